import type { Room } from '../events/face.ts'
import { pruneAudit } from '../ground/audit/retention.ts'
import { hourMs } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { auditRoutes } from './audit-http.ts'

export const room = {
  tag: 'Audit log',
  routes: auditRoutes,
  sweeps: { jobs: ({ db }: { db: Db }) => [{ name: 'audit log', everyMs: hourMs, run: () => pruneAudit(db) }] },
} satisfies Room
