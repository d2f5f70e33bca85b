/** The face of imports. */
import type { Room } from '../events/face.ts'
import { hourMs, untilDone } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { cancelImportsOf } from './close.ts'
import { importRoutes } from './http.ts'
import { forgetImportRows } from './retention.ts'

export const room = {
  routes: importRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      {
        name: 'rows of imports that are over',
        everyMs: hourMs,
        run: (isOver) => untilDone(isOver, 5000, (limit) => forgetImportRows(db, limit)),
      },
    ],
  },
  close: [cancelImportsOf],
  destroy: ['import_errors', 'imports'],
} satisfies Room
