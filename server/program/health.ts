/** Whether this process can work, for load balancers and people. */
import type { Submitter } from '../links/submit.ts'
import type { Db } from '../ground/db/db.ts'
import type { Disk } from './disk.ts'
import type { Health } from './site/welcome.ts'
import { databaseWaitMs, withinMs } from './within.ts'

interface Checked {
  db: Db
  /** Null without the role `links`. */
  submitter: Submitter | null
  /** A database may answer but not write: its disk is full, or it is a standby. */
  isWritable: boolean
  /** Of the embedded database; null: another one. */
  disk: Disk | null
}

export async function readHealth({ db, submitter, isWritable, disk }: Checked): Promise<Record<string, Health>> {
  const startedAt = performance.now()
  const isUp = (await withinMs(db.query('select 1'), databaseWaitMs)) !== null
  const health: Record<string, Health> = {
    database: {
      isOk: isUp && isWritable,
      answered_in_ms: isUp ? Math.round(performance.now() - startedAt) : null,
      writable: isUp && isWritable,
    },
  }
  // A warning; the check above reports failed writes.
  if (disk)
    health['disk'] = {
      isOk: disk.level !== 'nearly full',
      isVital: false,
      free_bytes: disk.room.freeBytes,
      size_bytes: disk.room.sizeBytes,
    }
  if (submitter) {
    const running = [...submitter.running.values()]
    const bound = running.filter((link) => link.sessions > 0).length
    const links = running.length + submitter.brokenCount
    // Messages are accepted and queued: a carrier that is down must not take the API out of a load balancer.
    health['links'] = { isOk: bound === links, isVital: false, bound, links }
  }
  return health
}
