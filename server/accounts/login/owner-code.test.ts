import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../ground/db/db.ts'
import { createFirstAccount } from '../first.ts'
import { createOwnerCode } from './owner-code.ts'
import { createTestUser, accountsWorld, bearer } from '../testing.ts'

const password = 'six mirrors on a hill'
let own: Awaited<ReturnType<typeof accountsWorld>>
let accountId: string
let key: string

beforeEach(async () => {
  own = await accountsWorld()
  const made = await inTransaction(own.db, (tx) => createFirstAccount(tx, { firstEmail: 'owner@acme.example' }))
  if (!made) throw new Error('the database was not empty')
  ;({ accountId, key } = made)
})

test('before the code is used the first owner cannot log in; afterwards the chosen address and password work', async () => {
  for (const guess of ['', ' ', 'owner@acme.example'])
    expect((await own.post('/v1/auth/login', { email: 'owner@acme.example', password: guess || 'x' })).statusCode).toBe(
      401,
    )
  const code = await make()
  const pair = await accept(code, { email: 'Ada@example.com' })
  expect(pair.json()).toMatchObject({ user: { email: 'Ada@example.com', role: 'owner' } })
  expect(pair.json().scope).toContain('carriers:write')
  expect((await own.post('/v1/auth/login', { email: 'ada@example.com', password })).statusCode).toBe(200)
  expect((await own.post('/v1/auth/login', { email: 'owner@acme.example', password })).statusCode).toBe(401)
  expect((await accept(code)).json().code).toBe('invalid_invitation')
  // The owner has a password now.
  expect(await createOwnerCode(own.db)).toBeNull()
  const { rows } = await own.db.query<{ text: string }>(
    `select (select json_agg(i) from invitations i)::text || (select json_agg(u) from users u)::text
       || (select json_agg(a) from audit_events a)::text as text`,
  )
  expect(rows[0]?.text).toContain('user.password_changed')
  for (const secret of [code, password]) expect(rows[0]?.text).not.toContain(secret)
})

test('without another address the owner keeps the one of the setting', async () => {
  const pair = await accept(await make())
  expect(pair.json()).toMatchObject({ user: { email: 'owner@acme.example', role: 'owner' } })
})

test('the example address is nobody’s: the first owner gives another', async () => {
  await own.db.query(`update users set email = 'owner@example.com' `)
  const code = await make()
  expect((await accept(code)).json().errors).toEqual([
    { pointer: '#/email', code: 'required', detail: 'is required: you log in with this address' },
  ])
  expect((await accept(code, { email: 'ann@acme.example' })).statusCode).toBe(200)
})

test('a new code ends the previous one, and each ends after a day', async () => {
  const [first, second] = [await make(), await make()]
  expect((await accept(first)).json().code).toBe('invalid_invitation')
  await own.db.query(`update invitations set expires_at = expires_at - interval '24 hours'`)
  expect((await accept(second)).json().code).toBe('invalid_invitation')
  expect((await accept(await make())).statusCode).toBe(200)
})

test('of two who use the code at once, one becomes the owner', async () => {
  const code = await make()
  const answers = await Promise.all([
    accept(code, { email: 'a@example.com' }),
    accept(code, { email: 'b@example.com' }),
  ])
  expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 401])
})

test('the code is not an invitation: it is not listed or withdrawn, and its printed form is refused as a password', async () => {
  const code = await make()
  expect((await list('/v1/users/invitations')).json().data).toEqual([])
  expect((await accept(code, { password: '…' })).json().errors).toMatchObject([{ code: 'too_short' }])
  expect((await accept(code, { email: 'nobody' })).statusCode).toBe(422)
  await createTestUser(own.db, accountId, { role: 'viewer' })
  const { email } = (await list('/v1/users?limit=1')).json().data[0]
  expect((await accept(code, { email })).json().code).toBe('user_exists')
  expect((await accept(code)).statusCode).toBe(200)
})

const accept = (code: string | undefined, more: object = {}) =>
  own.post('/v1/auth/accept-invitation', { code, password, ...more })
const make = async (): Promise<string> => (await createOwnerCode(own.db))?.code ?? ''
const list = (path: string) => own.ask('GET', path, bearer(key))
