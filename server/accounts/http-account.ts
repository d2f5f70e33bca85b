/** Routes of accounts as the operator of the installation sees them. */
import { Type } from 'typebox'
import type { Db, Queryable } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { IdOf, Nullable, paceNumber, problems, Timestamp, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { parseId, showId } from '../ids.ts'
import type { Vault } from '../secrets.ts'

const pace = Nullable(
  paceNumber('Segments a second of the whole account, over all carriers and processes; null: as the links allow.'),
)
const Account = Type.Object(
  {
    id: IdOf('acc', 'Id of the account.'),
    object: Type.Literal('account'),
    name: Type.String(),
    status: Type.Enum(['active', 'suspended']),
    pace,
    created_at: Timestamp('When it was made.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Account', description: 'An account of this installation.' },
)

const tags = ['Accounts']
const params = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of an account.' }) })

/** Registers the routes of accounts. They are the operator's, so they have the scopes of carriers. */
export function accountRoutesOfOperator(app: App, context: { db: Db; vault: Vault }): void {
  app.addSchema(Account)
  app.get(
    '/v1/accounts/:id',
    {
      schema: {
        operationId: 'getAccount',
        summary: 'One account',
        tags,
        params,
        response: { 200: Type.Ref('Account'), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => showAccount(await findAccount(context.db, accountIdOf(request.params.id))),
  )
  app.patch(
    '/v1/accounts/:id',
    {
      schema: {
        operationId: 'updateAccount',
        summary: 'Change the pace of an account',
        description: 'It holds at every process within seconds.',
        tags,
        params,
        body: Type.Object({ pace: Type.Optional(pace) }, { additionalProperties: false, minProperties: 1 }),
        response: { 200: Type.Ref('Account'), ...problems(404) },
      },
      config: { scope: 'carriers:write', operation: 'accounts.update' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = accountIdOf(request.params.id)
        const { pace: wanted } = request.body
        if (wanted !== undefined) await setAccountPace(tx, id, wanted)
        return { status: 200, body: showAccount(await findAccount(tx, id)) }
      }),
  )
}

interface AccountRow {
  id: string
  name: string
  status: 'active' | 'suspended'
  pace: number | null
  createdAt: Date
  updatedAt: Date
}

/** An account by its primary key. @throws ApiError `not_found`. */
async function findAccount(db: Queryable, id: string): Promise<AccountRow> {
  const { rows } = await db.query<AccountRow>({
    name: 'find-account',
    text: `
      select id, name, status, pace::float8 as pace, created_at as "createdAt", updated_at as "updatedAt"
      from accounts
      where id = $1`,
    values: [id],
  })
  if (!rows[0]) throw noAccount()
  return rows[0]
}

/** Sets the pace of an account; locks its row. Every process reads the paces anew after a while (see carriers/limits.ts). */
async function setAccountPace(db: Queryable, id: string, wanted: number | null): Promise<void> {
  await db.query({
    name: 'set-account-pace',
    text: `update accounts set pace = $2, updated_at = now() where id = $1`,
    values: [id, wanted],
  })
}

function accountIdOf(id: string): string {
  const uuid = parseId('acc', id)
  if (uuid === null) throw noAccount()
  return uuid
}

const noAccount = (): ApiError => new ApiError('not_found', { detail: 'There is no such account.' })

const showAccount = (row: AccountRow) => ({
  id: showId('acc', row.id),
  object: 'account' as const,
  name: row.name,
  status: row.status,
  pace: row.pace,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
})
