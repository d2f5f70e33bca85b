import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { ApiError, found, invalid, type FieldError } from '../ground/base/errors.ts'
import type { Posting, Needs } from '../events/events.ts'
import {
  createdQuery,
  Nullable,
  PageOf,
  pageQuery,
  problems,
  readTime,
  type App,
  type Caller,
} from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { takeMark } from '../ground/http/mark.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { readQuery } from '../ground/http/faults.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import { readNumberFilter } from '../ground/numbers/filter.ts'
import { readNumber } from '../ground/numbers/number.ts'
import { hashForms } from '../message/consent.ts'
import { forgetNumber, optIn, optOut, type ConsentContext, type Origin } from './opt-out.ts'
import { findOptOuts, isOptedOut } from '../message/opted-out.ts'
import { findOptOut, listOptOuts, OptOut, optOutSources, showOptOut, type OptOutFilters } from './store.ts'

export type OptOutsContext = ConsentContext & Needs<'db'>

const reasonText = (description: string) => Type.String({ minLength: 1, maxLength: 500, description })

const params = Type.Object({
  number: Type.String({ maxLength: 16, description: 'E.164, with or without a plus sign.', examples: ['15551230008'] }),
})
const checkMax = 10_000

const Query = Type.Object(
  {
    ...pageQuery,
    number: Type.Optional(
      Type.String({ maxLength: 40, description: 'The opt-out of this number.', examples: ['15551230008'] }),
    ),
    source: Type.Optional(Type.Enum([...optOutSources], { description: 'Their source.' })),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Opt-outs whose reason contains all of these words, or parts of words, ignoring case.',
        examples: ['complaint'],
      }),
    ),
    ...createdQuery,
  },
  { additionalProperties: false },
)

function readFilters(vault: Vault, accountId: string, query: Partial<Static<typeof Query>>): OptOutFilters {
  const faults: FieldError[] = []
  const number = readNumberFilter('number', query.number, 'recipient', faults)
  if (faults.length > 0) throw invalid(faults)
  return {
    number: number === null ? null : { number, hashes: hashForms(vault, accountId, number) },
    source: query.source ?? null,
    reason: query.reason ?? null,
    createdAfter: readTime(query.created_after),
    createdBefore: readTime(query.created_before),
  }
}

export function optOutRoutes(app: App, context: OptOutsContext): void {
  const { db, vault } = context
  app.addSchema(OptOut)

  app.get(
    '/v1/opt-outs',
    {
      schema: {
        operationId: 'listOptOuts',
        summary: 'List opt-outs',
        description:
          'Filters can be combined. For `reason` a page checks 200,000 opt-outs at most: if few match, it can be short or empty and still have a `next_cursor`.',
        querystring: Query,
        response: { 200: PageOf(Type.Ref('OptOut')), ...problems() },
      },
      config: { scope: 'messages:read' },
      attachValidation: true,
    },
    async (request) => {
      const { caller, query } = request
      const { limit: _limit, cursor: _cursor, ...asked } = query
      const filters = await readQuery(request, (sound) => readFilters(vault, caller.accountId, sound))
      const mark = await takeMark(db)
      const read = (...place: PagePlace) => listOptOuts(db, caller.accountId, filters, ...place)
      return readPage(query, ['opt-outs', asked], read, (row) => showOptOut(row, caller), { mark })
    },
  )

  app.get(
    '/v1/opt-outs/:number',
    {
      schema: {
        operationId: 'getOptOut',
        summary: 'Get an opt-out',
        params,
        response: { 200: Type.Ref('OptOut'), ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async ({ params: { number }, caller }) =>
      showOptOut(known(await findOptOut(db, vault, caller.accountId, requireNumber(number, caller))), caller),
  )

  app.post(
    '/v1/opt-outs/check',
    {
      schema: {
        operationId: 'checkOptOuts',
        summary: 'Check numbers for opt-outs',
        body: Type.Object(
          { numbers: Type.Array(Type.String({ maxLength: 40 }), { minItems: 1, maxItems: checkMax }) },
          { additionalProperties: false, examples: [{ numbers: ['15551230008', '15551230031'] }] },
        ),
        response: {
          200: Type.Object({
            data: Type.Array(
              Type.Object({
                number: Type.String({ description: 'As it is stored; as it was sent if it is not a valid number.' }),
                valid: Type.Boolean(),
                opted_out: Type.Boolean(),
                since: Nullable(Type.String()),
              }),
            ),
          }),
          ...problems(413),
        },
      },
      bodyLimit: 1_048_576,
      config: { scope: 'messages:read', testKeys: 'changes nothing' },
    },
    async ({ body, caller }) => {
      const read = body.numbers.map((text) => ({ text, read: readNumber(text, caller.defaultCountry) }))
      const numbers = read.flatMap((one) => ('number' in one.read ? [one.read.number] : []))
      const known = await findOptOuts(db, vault, caller.accountId, numbers)
      const data = read.map(({ text, read: one }) => {
        const number = 'number' in one ? one.number : text
        const since = known.get(number)?.createdAt.toISOString() ?? null
        return { number, valid: 'number' in one, opted_out: since !== null, since }
      })
      return { data }
    },
  )
  optOutChangeRoutes(app, context)
}

function optOutChangeRoutes(app: App, context: OptOutsContext): void {
  const { vault } = context

  app.post(
    '/v1/opt-outs',
    {
      schema: {
        operationId: 'createOptOut',
        summary: 'Create an opt-out',
        description:
          'Opts the number out of everything from the account; queued messages to it are canceled. Returns 200 if it was already opted out. No import and no contact reverses it: only the person, with START, or DELETE with a reason.',
        body: Type.Object(
          {
            number: Type.String({ maxLength: 20, examples: ['15551230008'] }),
            reason: Type.Optional(reasonText('The reason, for the consent ledger.')),
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Ref('OptOut'), 201: Type.Ref('OptOut'), ...problems() },
      },
      config: { scope: 'contacts:write', testKeys: 'opts out', audit: 'opt_out.created' },
    },
    (request, reply) =>
      change(context, request, reply, async (tx) => {
        const { caller, body } = request
        const number = readBodyNumber(body.number, '#/number', caller)
        const person = { number, reason: body.reason ?? null }
        const { added, postings } = await optOut(tx, context, caller.accountId, originOf(caller, 'api'), [person])
        const row = known(await findOptOut(tx, vault, caller.accountId, number))
        const status = added.size === 1 ? 201 : 200
        return {
          status,
          body: showOptOut(row, caller),
          location: `/v1/opt-outs/${number}`,
          resourceId: row.id,
          postings,
          // The reason is in the ledger of consent, which an erasure covers.
          audit: added.size === 0 ? null : { target: number, after: { opted_out: true } },
        }
      }),
  )

  app.delete(
    '/v1/opt-outs/:number',
    {
      schema: {
        operationId: 'deleteOptOut',
        summary: 'Delete an opt-out',
        description:
          'Only if the person asked for it in another way than START. The reason stays in the consent ledger.',
        params,
        querystring: Type.Object({ reason: reasonText('Who asked for it, and how.') }, { additionalProperties: false }),
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'contacts:write', testKeys: 'opts out', audit: 'opt_out.deleted' },
    },
    (request, reply) =>
      change(context, request, reply, async (tx) => {
        const { caller, query } = request
        const person = { number: requireNumber(request.params.number, caller), reason: query.reason }
        const { accountId, mode } = caller
        // A test key takes back a simulated phone's opt-out, as its START does.
        const origin = { ...originOf(caller, 'api'), isTest: mode === 'test' }
        const { isChange, postings } = await optIn(tx, context, accountId, origin, person)
        if (!isChange && (await isOptedOut(tx, vault, accountId, person.number))) refuseLive(caller, false)
        known(isChange)
        return { status: 204, postings, audit: { target: person.number, before: { opted_out: true } } }
      }),
  )

  app.post(
    '/v1/opt-outs/:number/forget',
    {
      schema: {
        operationId: 'forgetOptOut',
        summary: 'Forget the number of an opt-out',
        description:
          'To erase a person: the number is no longer shown to anybody, and is deleted some minutes later, when no message to it is in flight. A keyed hash remains, by which sends are still refused.',
        params,
        response: { 200: Type.Ref('OptOut'), ...problems(404) },
      },
      config: { scope: 'contacts:write', audit: 'opt_out.forgotten' },
    },
    (request, reply) =>
      change(context, request, reply, async (tx) => {
        const { caller } = request
        const number = requireNumber(request.params.number, caller)
        known(await forgetNumber(tx, vault, caller.accountId, number))
        const row = known(await findOptOut(tx, vault, caller.accountId, number))
        return { status: 200, body: showOptOut(row, caller), postings: [], audit: { target: number, after: null } }
      }),
  )
}

/** Runs a change in its transaction, with the request's idempotency key, and offers its posts after the commit. */
export async function change(
  context: OptOutsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Outcome & { postings: Posting[] }>,
): Promise<void> {
  let offered: Posting[] = []
  await idempotent(context, request, reply, async (tx) => {
    const { postings, ...outcome } = await work(tx)
    offered = postings
    return outcome
  })
  context.outbox.offer(offered)
}

export function originOf(caller: Caller, source: Origin['source']): Origin {
  return { source, actor: showId(caller.kind === 'key' ? 'key' : 'usr', caller.id) }
}

/** Its default country is that of national numbers. */
type Home = Pick<Caller, 'defaultCountry'>

/** @throws ApiError `validation_failed`. */
export function readBodyNumber(text: string, pointer: string, { defaultCountry }: Home): string {
  const read = readNumber(text, defaultCountry)
  if ('number' in read) return read.number
  const fault: FieldError = { pointer, ...read }
  throw invalid([fault])
}

/** A number of a path. @throws ApiError `not_found`, without claiming that it has not opted out: it may have, in another form. */
function requireNumber(text: string, { defaultCountry }: Home): string {
  const read = readNumber(text, defaultCountry)
  if ('number' in read) return read.number
  const suggestion = read.suggestion ? `; did you mean ${read.suggestion}?` : '.'
  throw new ApiError('not_found', { detail: `The number in the path ${read.detail}${suggestion}` })
}

const known = <T>(row: T | null | undefined): T => found(row, 'The number has not opted out.')
