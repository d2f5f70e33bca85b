import { Type, type Static } from 'typebox'
import type { Db, Tx } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import { IdOf, PageOf, pageQuery, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { Faults } from '../ground/http/faults.ts'
import type { CarriersContext } from '../carriers/http.ts'
import {
  affinityDays,
  deletePool,
  findPool,
  findUseOfPool,
  lockPool,
  pagePools,
  savePool,
  type PoolRow,
} from './pool-store.ts'
import { ownedOf } from './store.ts'

const tags = ['Sender pools']
const name = Type.String({ minLength: 1, maxLength: 60, description: 'Your name for it.' })
const strategy = Type.Enum(['sticky', 'round_robin'], {
  description: `\`sticky\`: a person keeps a sender for ${affinityDays} days after its last message; \`round_robin\`: the next sender for each message.`,
})
const weight = Type.Integer({ minimum: 1, maximum: 1000, description: 'Its share among the others.' })
const senders = Type.Array(
  Type.Object(
    {
      sender: Type.String({ maxLength: 255, description: 'Id of a sender of the account.' }),
      weight: Type.Optional(weight),
    },
    { additionalProperties: false },
  ),
  { minItems: 1, maxItems: 1000, description: 'Senders of the recipient’s country are preferred.' },
)

const CreateBody = Type.Object({ name, strategy: Type.Optional(strategy), senders }, { additionalProperties: false })
const PatchBody = Type.Object(
  { name: Type.Optional(name), strategy: Type.Optional(strategy), senders: Type.Optional(senders) },
  { additionalProperties: false, minProperties: 1 },
)

const PoolSchema = Type.Object(
  {
    id: IdOf('pol', 'Id of the pool.'),
    object: Type.Literal('sender_pool'),
    name: Type.String(),
    strategy,
    senders: Type.Array(Type.Object({ sender: IdOf('snd', 'Id of the sender.'), weight })),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'SenderPool' },
)

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a pool.' }) })

export function poolRoutes(app: App, context: Pick<CarriersContext, 'db' | 'vault'>): void {
  const { db } = context
  app.addSchema(PoolSchema)

  app.get(
    '/v1/sender-pools',
    {
      schema: {
        operationId: 'listSenderPools',
        summary: 'List sender pools',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('SenderPool')), ...problems() },
      },
      config: { scope: 'settings:read' },
    },
    ({ query, caller }) =>
      readPage(query, ['pools'], (...place) => pagePools(db, caller.accountId, ...place), renderPool),
  )

  app.get(
    '/v1/sender-pools/:id',
    {
      schema: {
        operationId: 'getSenderPool',
        summary: 'Get a sender pool',
        tags,
        params: IdParams,
        response: { 200: Type.Ref('SenderPool'), ...problems(404) },
      },
      config: { scope: 'settings:read' },
    },
    async (request) => renderPool(await requirePool(db, request.caller.accountId, request.params.id)),
  )

  app.post(
    '/v1/sender-pools',
    {
      schema: {
        operationId: 'createSenderPool',
        summary: 'Create a sender pool',
        tags,
        body: CreateBody,
        response: { 201: Type.Ref('SenderPool'), ...problems(409) },
      },
      config: { scope: 'settings:write', audit: 'sender_pool.created' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body, caller } = request
        const faults = new Faults(request).needFields()
        const members = await readMembers(tx, caller.accountId, faults, body.senders)
        faults.end()
        const id = newId()
        const { strategy = 'sticky' } = body
        await orNameTaken(savePool(tx, { accountId: caller.accountId, id, name: body.name, strategy, members }))
        const row = await requirePool(tx, caller.accountId, showId('pol', id))
        return {
          status: 201,
          body: renderPool(row),
          location: `/v1/sender-pools/${showId('pol', id)}`,
          resourceId: id,
        }
      }),
  )

  app.patch(
    '/v1/sender-pools/:id',
    {
      schema: {
        operationId: 'updateSenderPool',
        summary: 'Update a sender pool',
        tags,
        params: IdParams,
        body: PatchBody,
        response: { 200: Type.Ref('SenderPool'), ...problems(404) },
      },
      config: { scope: 'settings:write', audit: 'sender_pool.updated' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body, caller } = request
        const row = await requirePool(tx, caller.accountId, request.params.id, lockPool)
        const faults = new Faults(request).needFields()
        const members = body.senders && (await readMembers(tx, caller.accountId, faults, body.senders))
        faults.end()
        const { name = row.name, strategy = row.strategy } = body
        await orNameTaken(savePool(tx, { ...row, name, strategy, members: members ?? row.members }))
        const shown = renderPool(await requirePool(tx, caller.accountId, request.params.id))
        return { status: 200, body: shown, audit: { before: renderPool(row) } }
      }),
  )

  app.delete(
    '/v1/sender-pools/:id',
    {
      schema: {
        operationId: 'deleteSenderPool',
        summary: 'Delete a sender pool',
        tags,
        params: IdParams,
        response: { 204: Type.Null(), ...problems(404, 409) },
      },
      config: { scope: 'settings:write', audit: 'sender_pool.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const row = await requirePool(tx, accountId, request.params.id)
        const campaignId = await findUseOfPool(tx, accountId, row.id)
        if (campaignId !== null)
          throw new ApiError('pool_in_use', { detail: `The campaign ${showId('cmp', campaignId)} uses it.` })
        found(await deletePool(tx, accountId, row.id), noPool)
        return { status: 204, audit: { before: renderPool(row) } }
      }),
  )
}

const noPool = 'There is no such sender pool.'

async function requirePool<D extends Db | Tx>(
  db: D,
  accountId: string,
  text: string,
  find: (db: D, accountId: string, id: string) => Promise<PoolRow | null> = findPool,
): Promise<PoolRow> {
  const id = parseId('pol', text)
  return found(id && (await find(db, accountId, id)), noPool)
}

/** Another account's sender is reported as not found. */
async function readMembers(
  tx: Tx,
  accountId: string,
  faults: Faults,
  items: Static<typeof senders>,
): Promise<PoolRow['members']> {
  if (!faults.isSound('#/senders')) return []
  const known = await ownedOf(
    tx,
    accountId,
    items.map(({ sender }) => parseId('snd', sender)),
  )
  const seen = new Set<string>()
  return items.flatMap(({ sender, weight = 1 }, i) => {
    const senderId = parseId('snd', sender)
    if (!senderId || !known.has(senderId)) {
      faults.add(`#/senders/${i}/sender`, 'sender_not_found', 'is not a sender of this account')
      return []
    }
    if (seen.has(senderId)) faults.add(`#/senders/${i}/sender`, 'invalid_value', 'is already in the pool')
    seen.add(senderId)
    return [{ senderId, weight }]
  })
}

function orNameTaken(write: Promise<void>): Promise<void> {
  return write.catch((error: unknown) => {
    if (codeOf(error) !== '23505') throw error
    throw invalid([{ pointer: '#/name', code: 'invalid_value', detail: 'is the name of another pool' }])
  })
}

function renderPool(row: PoolRow): Record<string, unknown> {
  return {
    id: showId('pol', row.id),
    object: 'sender_pool',
    name: row.name,
    strategy: row.strategy,
    senders: row.members.map(({ senderId, weight }) => ({ sender: showId('snd', senderId), weight })),
    created_at: showTime(row.createdAt),
    updated_at: showTime(row.updatedAt),
  }
}
