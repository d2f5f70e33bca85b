import { expect, it } from 'vitest'
import { createTestAccount, testVault } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { callbackEndpointId } from '../events/events.ts'
import { Endpoints, type EndpointKey } from './endpoint.ts'

const { db } = await createTestDatabase()

it('callback secrets are read once for all origins requested together, and again after a failure', async () => {
  const { accountId } = await createTestAccount(db)
  const endpoints = new Endpoints(db, testVault)
  const keys = Array.from({ length: 50 }, (_, n): EndpointKey => {
    return { accountId, endpointId: callbackEndpointId(accountId, `http://127.0.0.1:${n + 1}/`), isCallback: true }
  })
  const rename = (from: string, to: string): Promise<unknown> =>
    db.query(`alter table accounts rename column ${from} to ${to}`)
  await rename('callback_secret', 'away')
  const failed = await Promise.allSettled(keys.map((key) => endpoints.read(key)))
  expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['rejected']))
  await rename('away', 'callback_secret')
  let statements = 0
  const count = (): void => void statements++
  db.on('acquire', count)
  expect(new Set(await Promise.all(keys.map((key) => endpoints.read(key))))).toEqual(new Set([true]))
  db.off('acquire', count)
  // The first goes alone, and creates the secret; all others wait for it and go together.
  expect(statements).toBeLessThanOrEqual(4)
})
