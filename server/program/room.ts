import type { Room } from '../events/face.ts'
import { hourMs } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { learnDays } from '../ground/db/partitions.ts'
import { followGrowth } from '../ground/db/statistics.ts'
import type { App } from '../ground/http/http.ts'
import { deprecationRoutes } from './deprecations-http.ts'
import type { DeprecatedCalls } from './deprecations.ts'
import type { Disk } from './disk.ts'
import { metricsRoute, type MetricsRouteContext } from './metrics-http.ts'
import type { OpenFiles } from './open-files.ts'

export const room = {
  routes(app: App, context: MetricsRouteContext & { deprecatedCalls?: DeprecatedCalls }) {
    deprecationRoutes(app, context)
    metricsRoute(app, context)
  },
  sweeps: {
    every: ({ db, disk, openFiles }: { db: Db; disk: Disk | null; openFiles: OpenFiles }) => [
      ...(disk ? [{ name: 'room on the disk', everyMs: 10_000, run: () => disk.look() }] : []),
      { name: 'open files', everyMs: 10_000, run: () => openFiles.look() },
      // Created a week ahead, by processes with the role `jobs`.
      { name: 'days that others have made', everyMs: hourMs, run: () => learnDays(db) },
    ],
    jobs: ({ db }: { db: Db }) => [
      { name: 'statistics', everyMs: 1000, due: 'select now() from tally_deltas limit 1', run: () => followGrowth(db) },
      { name: 'statistics without messages', everyMs: 10_000, run: () => followGrowth(db) },
    ],
  },
} satisfies Room
