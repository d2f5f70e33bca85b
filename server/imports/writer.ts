/** Writes the rows of an import in batches; the next batch is read while one is being written. */
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { ContactSealing, ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { showFields, tooManyAttributes } from '../contacts/store.ts'
import { recordContactConsents } from '../contacts/consent.ts'
import { sealContact, type WrittenContact } from '../contacts/merge.ts'
import { previewContacts, upsertContacts, type UpsertCounts } from '../contacts/upsert.ts'
import { findForgotten } from '../contacts/forgotten.ts'
import { emptyBatch, isOut, onlyConsent, type Batch } from './batch.ts'
import { FaultGroups } from '../ground/tables/fault-groups.ts'
import { insertErrors, joinErrors, type RowError } from './errors.ts'
import type { RowReader } from './row.ts'
import type { RowSource } from './rows.ts'
import { NumberSet } from './seen.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'
import { Stride } from './stride.ts'
import { addCounts, readCommitted, type Numbers, type Progress } from './progress.ts'
import { isClosed, type ImportOptions, type ImportRow, type Repairs, type FurtherNumbers } from './store.ts'

export interface WriteContext {
  db: Db
  vault: Vault
  readRow: RowReader
  stride?: Stride
  /** Most rows of a batch; default: by the stride. */
  pieceRows?: number | undefined
  /** Most rows of a file; a million by default. */
  rowsMax?: number
  /** Undefined: contacts are not encrypted and never were. */
  contactSeals?: ContactSeals
}

/** Bad rows with stored errors; the rest are only counted. Enough to correct by hand, too few to fill a disk. */
const badRowsMax = 100_000
// Stored characters of bad rows: as many as the largest file has.
const badSizeMax = 256 * 1024 * 1024
// Characters of the file in a batch; all forms of its rows take about ten times as much memory.
const batchSize = 2_000_000
const sampleRows = 20
// Rows reported for several numbers in a cell.
const furtherNumbersMax = 100

const outWord = { status: 'opted_out' } as const

/** Collects and writes rows. Skips rows that an earlier run committed; `know` gives their numbers. */
export class BatchWriter {
  readonly #context: WriteContext
  readonly #accountId: string
  readonly #job: ImportRow
  readonly #stride: Stride
  readonly #keepsRows: boolean
  readonly #seen = new NumberSet()
  /** Numbers that a row opted out. */
  readonly #out = new NumberSet()
  readonly #repairs: Repairs
  readonly #faults: FaultGroups
  readonly #sample: unknown[]
  readonly #furtherNumbers: FurtherNumbers[]
  #committed: number
  #rowsRead: number
  #badRows: number
  #refused = 0
  #badSize: number
  #batch = emptyBatch()
  #writing: Promise<boolean> = Promise.resolve(true)
  #workMs = 0

  /** `meetsOthers`: the campaign has contacts that may refuse rows. Rows are then kept until they are written, which costs a fifth. */
  constructor(context: WriteContext, accountId: string, job: ImportRow, meetsOthers: boolean) {
    this.#context = context
    this.#keepsRows = meetsOthers && job.options.onConflict === 'update'
    this.#accountId = accountId
    this.#job = job
    this.#stride = context.stride ?? new Stride()
    this.#repairs = { ...job.repairs }
    this.#faults = new FaultGroups(job.faults)
    this.#sample = [...(job.sample ?? [])]
    this.#furtherNumbers = [...(job.furtherNumbers ?? [])]
    this.#committed = job.processed
    this.#rowsRead = job.resume?.mark?.rows ?? 0
    this.#badRows = job.failed
    this.#badSize = job.resume?.badSize ?? 0
  }

  know({ seen, outs }: Numbers): void {
    for (const number of seen) this.#seen.add(number)
    for (const number of outs) this.#out.add(number)
  }

  /** There were rows, and none was taken. */
  get hasOnlyFailures(): boolean {
    return this.#committed > 0 && this.#badRows + this.#refused === this.#committed
  }

  get hasFailures(): boolean {
    return this.#badRows > 0 || this.#refused > 0
  }

  /** Committed rows after `settle`. */
  get committed(): number {
    return this.#committed
  }

  get isFull(): boolean {
    const { rows, size } = this.#batch
    return size >= batchSize || rows >= (this.#context.pieceRows ?? Infinity) || this.#stride.isWhole(rows)
  }

  add(row: SourceRow, options: ImportOptions): void {
    if (++this.#rowsRead <= this.#job.processed) return
    this.#batch.rows++
    this.#batch.size += row.size
    const read = this.#context.readRow(row, options)
    if (row.isHidden && !this.#job.options.takesHidden) {
      // A hidden row sends no messages, but its opt-out counts.
      this.#batch.hidden++
      const out = 'contact' in read ? (isOut(read.contact) ? read.contact.phoneNumber : null) : read.out
      if (out !== null) this.#batch.outs.add(out)
      return
    }
    if ('contact' in read) {
      for (const repair of [read.repair, read.hasNulls ? ('null_words' as const) : null])
        if (repair) this.#repairs[repair] = (this.#repairs[repair] ?? 0) + 1
      const { phoneNumber } = read.contact
      if (read.others && this.#furtherNumbers.length < furtherNumbersMax)
        this.#furtherNumbers.push({ line: row.line, number: phoneNumber, others: [...read.others] })
      const isNew = this.#seen.add(phoneNumber)
      const isFirstOut = isOut(read.contact) && this.#out.add(phoneNumber)
      if (isNew) this.#batch.numbers.seen.push(phoneNumber)
      if (isFirstOut) this.#batch.numbers.outs.push(phoneNumber)
      if (isNew && this.#job.options.isDryRun && this.#sample.length < sampleRows)
        this.#sample.push({ line: row.line, ...showFields(read.contact) })
      // Adds the id to the same object: a copy of each of a million rows would be most of the garbage.
      if (!isNew) {
        this.#batch.duplicates++
        if (isFirstOut) this.#batch.withdrawn.set(phoneNumber, read.contact)
        return
      }
      this.#batch.contacts.push(Object.assign(read.contact, { id: newId() }))
      if (this.#keepsRows && read.contact.attributes) this.#batch.sources.set(phoneNumber, row)
      return
    }
    this.#faults.add(read.errors)
    const errors = joinErrors(read.errors)
    this.#badSize += row.size
    const isKept = this.#badRows++ < badRowsMax && this.#badSize < badSizeMax
    this.#batch.failed++
    if (read.out !== null) this.#batch.outs.add(read.out)
    if (!isKept) return
    const record = storable(row.record)
    for (const error of errors) this.#batch.errors.push({ ...error, record })
  }

  /**
   * Queues the collected rows behind the current write; false if the import belongs to another worker or is over. `source` gives the position in the
   * file. `settle` waits for the write.
   */
  async flush(
    source: Pick<RowSource, 'bytesRead' | 'mark'>,
    retry: <T>(work: () => Promise<T>) => Promise<T>,
  ): Promise<boolean> {
    const { contacts, withdrawn } = this.#batch
    if (withdrawn.size > 0)
      for (const contact of contacts) contact.consent = withdrawn.get(contact.phoneNumber)?.consent ?? contact.consent
    const sealing = await retry(() => this.#seal())
    if (!(await this.#writing)) return false
    await this.#stride.rest(this.#workMs)
    this.#workMs = 0
    const batch = this.#batch
    if (batch.rows === 0) return true
    this.#batch = emptyBatch()
    const before = this.#committed
    this.#committed += batch.rows
    const state = {
      bytesRead: source.bytesRead(),
      resume: { mark: source.mark(), badSize: this.#badSize },
      repairs: { ...this.#repairs },
      faults: this.#faults.list(),
      furtherNumbers: [...this.#furtherNumbers],
      sample: this.#job.options.isDryRun ? [...this.#sample] : null,
    }
    const startMs = performance.now()
    this.#writing = retry(() => this.#write(batch, before, state, sealing)).finally(() => {
      this.#workMs = performance.now() - startMs
    })
    // The next flush or settle reports the failure; until then it has no handler.
    this.#writing.catch(() => {})
    return true
  }

  /** Resolves when everything is written; false as for `flush`. @throws the error of the last write. */
  settle(): Promise<boolean> {
    return this.#writing
  }

  /** Seals the collected rows while the previous batch is being written and the thread is idle. */
  async #seal(): Promise<ContactSealing | null> {
    if (this.#job.options.isDryRun) return null
    const sealing = (await this.#context.contactSeals?.of(this.#accountId)) ?? null
    if (sealing?.key) for (const contact of this.#batch.contacts) contact.sealed ??= sealContact(sealing, contact)
    return sealing
  }

  async #write(
    { contacts, withdrawn, outs, numbers, errors, duplicates, failed, hidden, rows, sources }: Batch,
    before: number,
    state: Pick<Progress, 'bytesRead' | 'resume' | 'repairs' | 'faults' | 'sample' | 'furtherNumbers'>,
    sealing: ContactSealing | null,
  ): Promise<boolean> {
    const { id } = this.#job
    return inTransaction(this.#context.db, async (tx) => {
      if (!this.#job.options.isDryRun && (await isClosed(tx, this.#accountId, this.#job.campaignId)))
        throw new ClosedCampaign()
      const { refused, ...counts } = await this.#writeContacts(tx, contacts, { withdrawn, outs }, sealing)
      // Other requests added contacts meanwhile: read the rows again from here, and keep them.
      if (refused.length > 0 && !this.#keepsRows) throw new ReadAgain()
      this.#refused += refused.length
      const room = Math.max(0, badRowsMax - this.#badRows - this.#refused)
      const full = refused.slice(0, room).flatMap((number) => errorOf(sources.get(number)) ?? [])
      await insertErrors(tx, this.#accountId, id, [...errors, ...full])
      const added = {
        ...counts,
        ...state,
        numbers,
        processed: rows,
        duplicate: duplicates,
        failed: failed + refused.length,
        hidden,
      }
      if (await addCounts(tx, this.#accountId, id, before, added)) return true
      throw new LostImport()
    }).catch(async (error: unknown) => {
      if (!(error instanceof LostImport)) throw error
      const committed = await readCommitted(this.#context.db, this.#accountId, id)
      // A crash of the database lost committed rows: no other worker would write them.
      if (committed !== null && committed < before) throw new ReadAgain()
      // If a commit's response was lost, its retry finds it here; also a batch that another worker wrote first.
      return committed === before + rows
    })
  }

  async #writeContacts(
    tx: Tx,
    contacts: WrittenContact[],
    { withdrawn, outs }: Pick<Batch, 'withdrawn' | 'outs'>,
    sealing: ContactSealing | null,
  ): Promise<UpsertCounts> {
    const { id, campaignId, options } = this.#job
    const { vault } = this.#context
    const { isDryRun } = options
    const numbers = contacts.map((contact) => contact.phoneNumber)
    // A dry run counts opt-outs itself.
    const unsaid = isDryRun ? contacts.filter((contact) => !isOut(contact)) : contacts
    const asked = unsaid.map((contact) => contact.phoneNumber)
    const forgotten = await findForgotten(tx, vault, this.#accountId, asked)
    const own = new Set(numbers)
    const earlier = [...withdrawn.values()].filter(({ phoneNumber }) => !own.has(phoneNumber))
    let outOfEarlier = 0
    if (earlier.length > 0 || (!isDryRun && (outs.size > 0 || contacts.some(isOut)))) {
      // Few lists have opt-outs, and this module loads a large part of the program.
      const { countNewlyOut, withdrawImported } = await import('./withdraw.ts')
      outOfEarlier = await countNewlyOut(tx, vault, this.#accountId, earlier)
      const known = [...contacts, ...earlier]
      const proven = new Set(known.filter(isOut).map(({ phoneNumber }) => phoneNumber))
      const unproven = [...outs].filter((number) => !proven.has(number))
      const people = [...known, ...unproven.map((number) => onlyConsent({ phoneNumber: number, consent: outWord }))]
      if (!isDryRun) await withdrawImported(tx, this.#context, this.#accountId, { id, campaignId }, people)
    }
    const write = isDryRun ? previewContacts : upsertContacts
    const counts = await write(tx, this.#accountId, campaignId, contacts, options.onConflict, sealing)
    const refused = new Set(counts.refused)
    const written = refused.size > 0 ? contacts.filter(({ phoneNumber }) => !refused.has(phoneNumber)) : contacts
    if (!isDryRun) {
      const changed = earlier.map(onlyConsent)
      await upsertContacts(tx, this.#accountId, campaignId, changed, options.onConflict, sealing)
      const said = [...written, ...earlier]
      await recordContactConsents(tx, vault, this.#accountId, campaignId, showId('imp', id), said)
    }
    return { ...counts, optedOut: counts.optedOut + forgotten.size + outOfEarlier }
  }
}

export class ClosedCampaign extends Error {}

/** The rows after the committed ones must be read again. */
export class ReadAgain extends Error {}

/** Rolls a batch back: its rows belong to another worker, or are no longer wanted. */
class LostImport extends Error {}

/** The error of a row whose contact exists and is full. */
function errorOf(row: SourceRow | undefined): (RowError & { record: unknown }) | undefined {
  const { code, detail } = tooManyAttributes
  const record = storable(row?.record)
  return row && { line: row.line, code, column: 'attributes', value: null, detail, suggestion: null, record }
}

/** jsonb refuses NUL and half surrogate pairs; cutting a text may also leave one. */
const storable = (record: unknown): unknown =>
  typeof record === 'string'
    ? record.toWellFormed().replaceAll('\0', '\uFFFD')
    : Array.isArray(record)
      ? record.map(storable)
      : record
