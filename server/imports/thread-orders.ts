/** Messages to and from the thread of an import. */
import type { Connection } from '../ground/db/db.ts'
import type { KeyFile } from '../ground/sealing/master-key.ts'
import type { RowSchema } from './row-schema.ts'
import type { ImportKey, RowsResult } from './write.ts'

export interface ThreadInput {
  connection: Connection
  /** The process's key file at the start of the thread. */
  keyFile: Pick<KeyFile, 'path' | 'lines'>
  isSealing: boolean
  rowSchema: RowSchema
  /** Countries whose numbers may have any length (`ground/numbers/plan.ts`). */
  anyLengthCountries?: readonly string[]
  /** Shared memory: how many messages this process has accepted, so that the thread can step back (`stride.ts`). */
  accepted: Int32Array
}

/** A thread answers a key with a `ThreadOutput`. */
export type ThreadOrder = ImportKey | 'stop'

export type ThreadOutput = { result: RowsResult } | { error: Error }
