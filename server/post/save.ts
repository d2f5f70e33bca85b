/** Writes what became of posts, many at a time. */
import { Batcher } from '../ground/base/batch.ts'
import type { Db } from '../ground/db/db.ts'
import { codeOf, isPassing, isRetryable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import { Repeated } from '../ground/http/repeated.ts'
import { endPosts, type Ended } from './ended.ts'
import { dropPosts, releasePosts, type OutboxKey } from './outbox.ts'

/** Takes posts that are over; nobody waits for the writing. */
export interface Saver {
  /** The post was made. */
  end(ended: Ended): void
  /** It was not made here, and any node may make it. */
  release(key: OutboxKey): void
  /** It is never to be made. */
  drop(key: OutboxKey): void
  /** Ends that wait to be written. */
  readonly unsaved: number
  /** Resolves when all is written. */
  drain(): Promise<void>
}

const tries = 10
const retryMs = 1000
// Ends are the delivery log and what a crash would post again: a fiftieth of a second more is nothing to either.
const lingerMs = 20

/**
 * A saver for the posts of one node. A database that is away is waited for, 10 seconds a batch; what could not be written then is
 * posted again when its lease has ended.
 */
export function createSaver(db: Db, nodeId: string, log: Log): Saver {
  const batched = <T>(write: (items: T[]) => Promise<void>): Batcher<T, void> =>
    new Batcher<T, void>(
      async (items) => {
        await keepTrying(() => write(items))
        return items.map(() => undefined)
      },
      { sizeMax: 500, flushesMax: 1, rests: true, lingerMs, isForAll: isPassing },
    )
  const ends = batched<Ended>((ended) => endPosts(db, ended))
  const releases = batched<OutboxKey>((keys) => releasePosts(db, nodeId, keys))
  const drops = batched<OutboxKey>((keys) => dropPosts(db, keys))
  const failures = new Repeated((error, posts) => log.error({ error, posts }, 'results of posts could not be saved'))
  const push = <T>(batcher: Batcher<T, void>, item: T): void => {
    batcher.push(item).catch((error: unknown) => failures.note(error))
  }
  return {
    end: (ended) => push(ends, ended),
    release: (key) => push(releases, key),
    drop: (key) => push(drops, key),
    get unsaved() {
      return ends.length
    },
    drain: async () => {
      await Promise.all([ends.drain(), releases.drain(), drops.drain()])
      failures.flush()
    },
  }
}

/** Writes until it is written: each of the statements is whole, and may be repeated. */
async function keepTrying(write: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await write()
    } catch (error) {
      // Its attempts are there: an earlier try has written all, and its answer was lost.
      if (tried > 1 && codeOf(error) === '23505') return
      if (!isRetryable(error) || tried === tries) throw error
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}
