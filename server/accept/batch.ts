/** Many messages in one request: each is checked and answered like a single send. */
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { errorKinds, errorsMax, invalid, problemOf, ApiError, type FieldError } from '../ground/base/errors.ts'
import { keyInProgress, keyReused } from '../ground/http/idempotency.ts'
import { openTurns } from '../ground/http/turns.ts'
import { replayEstimate } from './accepted.ts'
import type { Accepted, Draft } from '../message/draft.ts'
import type { DraftContext } from './draft.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { listSendFaults } from './send-faults.ts'
import { fingerprintOfBatch, readReplayed, refusalError, replayedRow, type MessagesContext } from './send.ts'
import type { BatchResult, BatchBody } from './batch-schema.ts'
import { loadTemplates, readSend, SendInput, type Templates } from './read-send.ts'

const operation = 'messages.batch'

// About a megabyte. A hundred for each of 10,000 messages would be a hundred megabytes.
const fieldErrorsMax = 10_000

/** Each message gets its own key, from the request's key and its index: a retry after a crash writes the missing messages and replays the rest. */
export async function sendBatch(
  context: MessagesContext,
  request: FastifyRequest<{ Body: Static<typeof BatchBody> }>,
  key: string,
  draftContext: DraftContext,
): Promise<{ body: Static<typeof BatchResult>; isReplay: boolean }> {
  const { messages, atomic = false } = request.body
  const fingerprint = await fingerprintOfBatch(request.caller, request.body)
  const keys = messages.map((_, index) => keyOfItem(key, index))
  const known = await findKnown(context, draftContext.accountId, keys, fingerprint)
  const templates = await loadTemplates(context.db, draftContext.accountId, messages)
  let told = 0
  const check = (message: unknown, index: number): Draft | Known | ApiError => {
    const key = keys[index] ?? ''
    // An accepted message gets the same answer again, even if its `send_at` has passed or its template has changed.
    const before = known.get(key)
    if (before) return before
    const draft = checkOne(request, message, templates, draftContext)
    if (!(draft instanceof ApiError)) return { ...draft, idempotency: { operation, key, fingerprint } }
    told += draft.options.errors?.length ?? 0
    return told > fieldErrorsMax ? shorten(draft) : draft
  }
  const checks: (Draft | Known | ApiError)[] = []
  const giveWay = openTurns()
  for (const [index, message] of messages.entries()) {
    checks.push(check(message, index))
    await giveWay()
  }
  if (atomic && checks.some((check) => check instanceof ApiError)) throw atomicError(checks)
  const drafts = checks.filter((check) => isDraft(check))
  const repeated = [...known.values()].map(({ messageId }) => messageId)
  const replayedOf = await readReplayed(context.db, draftContext.accountId, repeated)
  const accepted = await accept(context, drafts, atomic)
  const hasBody = request.caller.scopes.has('messages:read_body')
  let next = 0
  const results: Static<typeof BatchResult>['results'] = []
  for (const [index, check] of checks.entries()) {
    const result = isDraft(check)
      ? await answerOne(context, check, accepted[next++], hasBody)
      : check instanceof ApiError
        ? check
        : renderReplay(replayedOf(check.messageId), hasBody)
    if (result instanceof ApiError)
      results.push({ index, status: result.status, error: problemOf(result, request.url, request.id) })
    else results.push({ index, status: 202, message: result })
    await giveWay()
  }
  const taken = results.filter((result) => result.status === 202).length
  return {
    body: { object: 'batch', accepted: taken, refused: results.length - taken, results },
    isReplay: taken > 0 && accepted.every((one) => one.kind !== 'accepted'),
  }
}

/** All faults of a batch; `known` are those of its schema. If `messages` is a list, includes the faults of each message. */
export async function listBatchFaults(
  { db }: Pick<MessagesContext, 'db'>,
  request: FastifyRequest,
  messages: readonly object[],
  known: readonly FieldError[],
  draftContext: DraftContext,
): Promise<FieldError[]> {
  const faults = [...known]
  const templates = await loadTemplates(db, draftContext.accountId, messages)
  const giveWay = openTurns()
  for (const [index, message] of messages.entries()) {
    if (faults.length >= errorsMax) break
    const draft = checkOne(request, message, templates, draftContext)
    if (draft instanceof ApiError) faults.push(...placeErrors(draft, index))
    await giveWay()
  }
  return faults.slice(0, errorsMax)
}

interface Known {
  messageId: string
  fingerprint: Buffer
}

const isDraft = (check: Draft | Known | ApiError): check is Draft => 'theirNumber' in check

/** A key has no blanks, so the item keys of two batches never collide. */
const keyOfItem = (key: string, index: number): string => `${key} ${index}`

const shorten = ({ code, message, options }: ApiError): ApiError =>
  new ApiError(code, { ...options, detail: message, ...(options.errors && { errors: options.errors.slice(0, 1) }) })

function checkOne(
  request: FastifyRequest,
  message: unknown,
  templates: Templates,
  draftContext: DraftContext,
): Draft | ApiError {
  // Our validators return true or the error to throw (ground/http/validate.ts); Fastify's types know only Ajv's.
  const check = request.compileValidationSchema(SendInput) as unknown as (data: unknown) => true | { error: ApiError }
  const verdict = check(message)
  if (verdict !== true)
    return invalid(listSendFaults(message as SendInput, verdict.error.options.errors ?? [], templates, draftContext))
  const draft = readSend(message as SendInput, templates, draftContext)
  return Array.isArray(draft) ? invalid(draft) : draft
}

async function accept(context: MessagesContext, drafts: Draft[], atomic: boolean): Promise<Accepted[]> {
  if (!atomic) return context.acceptor.acceptAll(drafts)
  const { isWritten, results } = await context.acceptor.acceptAtomically(drafts)
  if (!isWritten && results.some(({ kind }) => kind === 'refused')) {
    const checks = results.map((one) =>
      one.kind === 'refused' ? refusalError(one.refusal, one.stop, one.waitSeconds) : one,
    )
    throw waitError(checks) ?? atomicError(checks)
  }
  // Some keys are known and the rest was rolled back: another process is writing them.
  if (!isWritten && results.some((result) => result.kind === 'accepted')) throw keyInProgress()
  return results
}

/** The refusal of an atomic batch if all its refusals pass by themselves: the one that takes longest. Null otherwise. */
function waitError(checks: unknown[]): ApiError | null {
  const refused = checks.flatMap((error, index) => (error instanceof ApiError ? [{ error, index }] : []))
  if (!refused.every(({ error }) => errorKinds[error.code].retryable)) return null
  const waitOf = ({ options }: ApiError): number => options.retryAfterSeconds ?? 0
  const last = refused.reduce((one, other) => (waitOf(other.error) > waitOf(one.error) ? other : one))
  const { code, message, options } = last.error
  const detail = `No message was accepted, because of the one at index ${last.index}: ${message}`
  return new ApiError(code, { ...options, detail })
}

/** One error for an atomic batch: every reason, with its index in the batch. */
function atomicError(checks: unknown[]): ApiError {
  const errors = checks.flatMap((check, index) => (check instanceof ApiError ? placeErrors(check, index) : []))
  return invalid(errors.slice(0, errorsMax))
}

function placeErrors({ code, message, options }: ApiError, index: number): FieldError[] {
  const fields = options.errors ?? [{ pointer: '#', code: 'invalid_value' as const, detail: `${code}: ${message}` }]
  return fields.map((field) => ({ ...field, pointer: field.pointer.replace('#', `#/messages/${index}`) }))
}

async function answerOne(
  context: MessagesContext,
  draft: Draft,
  accepted: Accepted | undefined,
  hasBody: boolean,
): Promise<Record<string, unknown> | ApiError> {
  if (!accepted) throw new Error('a draft of the batch has no answer')
  if (accepted.kind === 'refused') return refusalError(accepted.refusal, accepted.stop, accepted.waitSeconds)
  if (accepted.kind === 'accepted') return renderMessage(accepted.row, accepted.estimatedSendAt, hasBody)
  return renderReplay(await replayedRow(context.db, draft, accepted), hasBody)
}

const renderReplay = (row: MessageRow, hasBody: boolean): Record<string, unknown> =>
  renderMessage(row, replayEstimate(row), hasBody)

/** Items that were accepted before. If a key came with another batch, the request is refused. By the primary key of idempotency_keys. */
async function findKnown(
  { db }: MessagesContext,
  accountId: string,
  keys: string[],
  fingerprint: Buffer,
): Promise<Map<string, Known>> {
  const { rows } = await db.query<Known & { key: string }>(
    `select key, resource_id as "messageId", fingerprint from idempotency_keys
     where account_id = $1 and operation = $2 and key = any ($3)`,
    [accountId, operation, keys],
  )
  if (rows.some((row) => !row.fingerprint.equals(fingerprint))) throw keyReused()
  return new Map(rows.map((row) => [row.key, row]))
}
