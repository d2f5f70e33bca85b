import { expect, test } from 'vitest'
import { createFirstAccount } from '../../accounts/first.ts'
import { buildAccountsApp } from '../../accounts/testing.ts'
import { inTransaction } from '../../ground/db/db.ts'
import { createTestDatabase } from '../../ground/db/testing.ts'
import { printOwnerCode } from './owner.ts'

const { db } = await createTestDatabase()
const app = await buildAccountsApp(db)

test('the command prints a new code until the owner has a password', async () => {
  const make = () => printOwnerCode(db, 'http://localhost')
  await expect(make()).rejects.toThrow('There is no code to print')
  await inTransaction(db, (tx) => createFirstAccount(tx, { firstEmail: "o'neil@example.com" }))
  const printed = await make()
  // As a shell reads it.
  const [, data = ''] = /-d '(.*)'$/m.exec(printed) ?? []
  const body = JSON.parse(data.replaceAll(`'\\''`, "'")) as Record<string, string>
  expect(body).toMatchObject({ email: "o'neil@example.com", password: '…' })
  const accept = (password: string | undefined) =>
    app.inject({ method: 'POST', url: '/v1/auth/accept-invitation', payload: { ...body, password } })
  expect((await accept(body['password'])).statusCode).toBe(422)
  expect((await accept('six mirrors on a hill')).statusCode).toBe(200)
  await expect(make()).rejects.toThrow('There is no code to print')
})
