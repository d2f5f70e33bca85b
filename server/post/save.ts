/** Writes the results of posts, many at a time. */
import { Batcher } from '../ground/base/batch.ts'
import type { Db } from '../ground/db/db.ts'
import { codeOf, isPassing, isRetryable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import { Repeated } from '../ground/http/repeated.ts'
import { endPosts, isFinal, type Ended } from './ended.ts'
import { dropPosts, releasePosts, type OutboxKey } from './outbox.ts'

export interface Saver {
  /** The post was made. `isOrdered`: a later post of its message waits until this is written. */
  end(ended: Ended, isOrdered: boolean): void
  /** It was not made here, and any node may make it. */
  release(key: OutboxKey): void
  /** It will never be made. */
  drop(key: OutboxKey): void
  /** Unwritten ends. */
  readonly unsaved: number
  /** Resolves when all is written. */
  drain(): Promise<void>
}

const tries = 10
const retryMs = 1000
// Ends feed the delivery log, and prevent repetitions after a crash.
const lingerMs = 20
// Nothing waits for the end of a post without a retry, and a statement of one costs nearly as much as one of fifty.
const finalLingerMs = 250

export interface SaverPools {
  db: Db
  /** For ends without a retry. If the server crashes, its last commits may be lost, and those posts are made again. */
  endsDb: Db
}

/**
 * A saver for one node's posts. It waits for an unavailable database, 10 seconds a batch; posts with unwritten results are made again after their
 * lease.
 */
export function createSaver({ db, endsDb }: SaverPools, nodeId: string, log: Log): Saver {
  const batched = <T>(write: (items: T[]) => Promise<void>, lingering = lingerMs): Batcher<T, void> =>
    new Batcher<T, void>(
      async (items) => {
        await keepTrying(() => write(items))
        return items.map(() => undefined)
      },
      { sizeMax: 500, flushesMax: 1, rests: true, lingerMs: lingering, isForAll: isPassing },
    )
  const ends = batched<Ended>((ended) => endPosts(db, ended))
  const finals = batched<Ended>((ended) => endPosts(endsDb, ended), finalLingerMs)
  const releases = batched<OutboxKey>((keys) => releasePosts(db, nodeId, keys))
  const drops = batched<OutboxKey>((keys) => dropPosts(db, keys))
  const failures = new Repeated((error, posts) => log.error({ error, posts }, 'results of posts could not be saved'))
  const push = <T>(batcher: Batcher<T, void>, item: T): void => {
    batcher.push(item).catch((error: unknown) => failures.note(error))
  }
  return {
    end: (ended, isOrdered) => push(isFinal(ended) && !isOrdered ? finals : ends, ended),
    release: (key) => push(releases, key),
    drop: (key) => push(drops, key),
    get unsaved() {
      return ends.length + finals.length
    },
    drain: async () => {
      await Promise.all([ends.drain(), finals.drain(), releases.drain(), drops.drain()])
      failures.flush()
    },
  }
}

/** Retries until written: each statement is atomic and repeatable. */
async function keepTrying(write: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await write()
    } catch (error) {
      // Its attempts exist: an earlier try wrote everything, and its answer was lost.
      if (tried > 1 && codeOf(error) === '23505') return
      if (!isRetryable(error) || tried === tries) throw error
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}
