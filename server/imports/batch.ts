/** What a batch of an import holds until it is written. */
import { newId } from '../ground/base/ids.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'
import type { WrittenContact } from '../contacts/merge.ts'
import type { NewContact } from '../contacts/store.ts'
import type { RowError } from './errors.ts'
import type { Numbers } from './progress.ts'

/** Rows of one transaction. */
export interface Batch {
  contacts: WrittenContact[]
  /** Rows that are the first to say of an earlier one that its person is out, by number: that counts wherever it stands. */
  withdrawn: Map<string, NewContact>
  /** Numbers that bad rows say to be out. */
  outs: Set<string>
  numbers: Numbers
  errors: (RowError & { record: unknown })[]
  duplicates: number
  failed: number
  hidden: number
  rows: number
  size: number
  /** By number, rows with attributes, of which a contact that is there may get too many. */
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

/** What such a row changes of the contact that an earlier batch wrote. */
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
