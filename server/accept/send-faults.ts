/** All that is wrong with a send whose shape is wrong, at once: what its schema refused, and what only reading the rest of it tells. */
import type { FieldError } from '../ground/base/errors.ts'
import { Faults, isCutOff } from '../ground/http/faults.ts'
import { readDraft, type DraftContext } from './draft.ts'
import { findMissingSender, refusalError, type MessagesContext } from './send.ts'
import { hasCampaign } from '../message/store.ts'
import { readSend, type SendInput, type Templates } from './read-send.ts'

/** What a text is made of: where one of them is refused, nothing more is said of the text. */
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

/** Stand for what was refused, or is missing; nothing is wrong with them. */
const soundNumber = '+15551234567'
const soundText = '-'

/** The faults of a body of which `known` is what its schema found; these first. */
export function listSendFaults(
  body: SendInput,
  known: readonly FieldError[],
  templates: Templates,
  context: DraftContext,
): FieldError[] {
  // What is no object has no fields to read.
  if (isCutOff(known) || known.some(({ pointer }) => pointer === '#')) return [...known]
  const fields = new Faults(known).sound(body)
  if (textFields.some((field) => known.some(({ pointer }) => pointer.split('/', 2)[1] === field))) {
    for (const field of textFields) delete fields[field]
    fields.message = soundText
  }
  const draft = readSend({ to: soundNumber, ...fields }, templates, context)
  return Array.isArray(draft) ? [...known, ...draft] : [...known]
}

/**
 * What a send with the faults `known` names besides and there is not: its campaign, sender or pool. Of a send that is right the statement
 * that accepts it tells them, and nothing is asked before it.
 */
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
