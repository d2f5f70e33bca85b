/** The other side of `thread.ts`: writes the rows of one import after another. */
import { existsSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { readClock } from '../ground/db/clock.ts'
import { openPool } from '../ground/db/db.ts'
import { allowAnyLength } from '../ground/numbers/plan.ts'
import { ContactSeals } from '../ground/sealing/contact-fields.ts'
import { DataKeys } from '../ground/sealing/data-keys.ts'
import { KeyFile } from '../ground/sealing/master-key.ts'
import { openResult } from '../ground/sealing/texts.ts'
import { openVault } from '../ground/sealing/vault.ts'
import { createRowReader } from './row.ts'
import { Stride } from './stride.ts'
import type { ThreadInput, ThreadOrder, ThreadOutput } from './thread-orders.ts'
import { retry, writeRows, type ImportKey } from './write.ts'

const { connection, keyFile, isSealing, rowSchema, accepted, anyLengthCountries = [] } = workerData as ThreadInput
allowAnyLength(anyLengthCountries)
// If an import and a request need the same core, the request goes first: on Linux, threads have their own priority (sched(7)).
const self = '/proc/thread-self'
if (existsSync(self)) setPriority(Number(basename(readlinkSync(self))), constants.priority.PRIORITY_BELOW_NORMAL)
// One connection writes while another reads the file. Commits do not wait for the disk: if a crash of the database loses a batch, it loses the
// batch's count too, and the import continues before it. The end of the import waits for all commits.
const vault = openVault(new KeyFile(keyFile.path, keyFile.lines))
const keys = new DataKeys(vault)
// The thread has no log: unreadable values stay as they are, and each later reader logs them.
const log = { warn: () => {} }
const db = openPool(connection, {
  name: 'imports',
  max: 2,
  isBulk: true,
  // The server ends a statement before this process gives it up; otherwise an abandoned statement would lock the rows of the next try. The end of the
  // import also waits for commits that were canceled.
  settings: { synchronous_commit: 'off', statement_timeout: '28s' },
  onResult: (result, on) => openResult({ keys, log }, result, on),
})
const contactSeals = new ContactSeals({ db, keys, vault, isSealing })
const readRow = createRowReader(rowSchema)
const stride = new Stride(() => Atomics.load(accepted, 0))
let stop = new AbortController()

parentPort?.on('message', (order: ThreadOrder) => {
  if (order === 'stop') stop.abort()
  else void write(order)
})

async function write(key: ImportKey): Promise<void> {
  stop = new AbortController()
  const { signal } = stop
  // The thread does not have the process's clock.
  const output = await retry(() => readClock(db), signal)
    .then(() => writeRows({ db, vault, readRow, stride, contactSeals }, key, signal))
    .then(
      (result): ThreadOutput => ({ result }),
      (error: unknown): ThreadOutput => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    )
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a rule for windows; threads have no origin
  parentPort?.postMessage(output)
}
