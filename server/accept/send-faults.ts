/** All faults of a send that fails its schema, at once: those of the schema, and those found by reading the other fields. */
import type { FieldError } from '../ground/base/errors.ts'
import { Faults, isCutOff } from '../ground/http/faults.ts'
import { readDraft, type DraftContext } from './draft.ts'
import { findMissingSender, refusalError, type MessagesContext } from './send.ts'
import { hasCampaign } from '../message/store.ts'
import { readSend, type SendInput, type Templates } from './read-send.ts'

/** The fields that make a text: if one is refused, no further fault of the text is reported. */
const textFields = [
  'message',
  'template',
  'variables',
  'language',
  'type',
  'encoding',
  'smart_encoding',
  'max_segments',
  'shorten_urls',
] as const satisfies readonly (keyof SendInput)[]

/** Valid values in place of refused or missing ones. */
const soundNumber = '+15551234567'
const soundText = '-'

/** `known` are the faults of the schema, which come first. */
export function listSendFaults(
  body: SendInput,
  known: readonly FieldError[],
  templates: Templates,
  context: DraftContext,
): FieldError[] {
  // A body that is not an object has no fields to read.
  if (isCutOff(known) || known.some(({ pointer }) => pointer === '#')) return [...known]
  const fields = new Faults(known).sound(body)
  if (textFields.some((field) => known.some(({ pointer }) => pointer.split('/', 2)[1] === field))) {
    for (const field of textFields) delete fields[field]
    fields.message = soundText
  }
  const draft = readSend({ to: soundNumber, ...fields }, templates, context)
  return Array.isArray(draft) ? [...known, ...draft] : [...known]
}

/** Reports an unknown campaign, sender or pool besides the faults `known`. For a valid send, the accept statement reports them without a query. */
export async function findMissing(
  { db, acceptor }: Pick<MessagesContext, 'db' | 'acceptor'>,
  body: SendInput,
  known: readonly FieldError[],
  context: DraftContext,
): Promise<FieldError[]> {
  if (isCutOff(known)) return []
  const { campaign, from, sender_pool } = new Faults(known).sound(body)
  const names = { ...(campaign && { campaign }), ...(from && { from }), ...(sender_pool && { sender_pool }) }
  const draft = readDraft({ to: soundNumber, message: soundText, ...names }, context)
  if (Array.isArray(draft)) return []
  const isThere = campaign === undefined || (await hasCampaign(db, draft))
  const ofCampaign = isThere ? [] : (refusalError('campaign_not_found').options.errors ?? [])
  return [...ofCampaign, ...(await findMissingSender(acceptor, draft))]
}
