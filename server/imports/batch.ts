/** A batch of an import until it is written. */
import { newId } from '../ground/base/ids.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'
import type { WrittenContact } from '../contacts/merge.ts'
import type { NewContact } from '../contacts/store.ts'
import type { RowError } from './errors.ts'
import type { Numbers } from './progress.ts'

export interface Batch {
  contacts: WrittenContact[]
  /** By number, rows that opt out the person of an earlier row: an opt-out counts anywhere in the file. */
  withdrawn: Map<string, NewContact>
  /** Numbers that bad rows opt out. */
  outs: Set<string>
  numbers: Numbers
  errors: (RowError & { record: unknown })[]
  duplicates: number
  failed: number
  hidden: number
  rows: number
  size: number
  /** By number, rows with attributes: an existing contact may get too many of them. */
  sources: Map<string, SourceRow>
}

export const emptyBatch = (): Batch => ({
  contacts: [],
  withdrawn: new Map(),
  outs: new Set(),
  numbers: { seen: [], outs: [] },
  errors: [],
  duplicates: 0,
  failed: 0,
  hidden: 0,
  rows: 0,
  size: 0,
  sources: new Map(),
})

export const isOut = ({ consent }: NewContact): boolean => consent?.status === 'opted_out'

/** The change by such a row to the contact that an earlier batch wrote. */
export const onlyConsent = ({ phoneNumber, consent }: Pick<NewContact, 'phoneNumber' | 'consent'>): WrittenContact => ({
  id: newId(),
  phoneNumber,
  firstName: null,
  lastName: null,
  externalId: null,
  language: null,
  country: null,
  timezone: null,
  attributes: null,
  tags: null,
  consent,
})
