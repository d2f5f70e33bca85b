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
// Where an import and a request want the same core, the request goes first: on Linux a thread has a priority of its own (sched(7)).
const self = '/proc/thread-self'
if (existsSync(self)) setPriority(Number(basename(readlinkSync(self))), constants.priority.PRIORITY_BELOW_NORMAL)
// One connection writes while another reads the file. Its commits do not wait for the disk, nor do others' behind them: a batch that a
// crash of the database takes away takes its count with it, and the import goes on before it; its end waits for all of them.
const vault = openVault(new KeyFile(keyFile.path, keyFile.lines))
const keys = new DataKeys(vault)
// The thread has no log: what cannot be opened stays as it is, and is logged wherever it is read.
const log = { warn: () => {} }
const db = openPool(connection, {
  name: 'imports',
  max: 2,
  // A statement ends at the server before this process gives it up: what nobody waits for would lock the rows of the next try. A commit that is
  // canceled so is waited for by the end of the import, as all are.
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
  // What the process knows of it is not known here.
  const output = await retry(() => readClock(db), signal)
    .then(() => writeRows({ db, vault, readRow, stride, contactSeals }, key, signal))
    .then(
      (result): ThreadOutput => ({ result }),
      (error: unknown): ThreadOutput => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    )
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a rule for windows; threads have no origin
  parentPort?.postMessage(output)
}
