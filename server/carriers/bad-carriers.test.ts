/** Broken carriers report why, are not dialled in a tight loop, and delay neither the others nor the start. */
import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { insertTestCarrier } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { listLinks } from '../links/carrier-store.ts'
import { openCarrierTest, type CarrierTest } from './testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()

it('twenty carriers at unknown hosts delay neither the start nor a working carrier', async () => {
  const bad = [
    ...Array.from({ length: 20 }, (_, i) => ({ host: `no-such-host-${i}.invalid` })),
    // No listener; TLS without a TLS server; an invalid address.
    { port: 1 },
    { port: 1, tls: true },
    { host: '256.256.256.256' },
  ]
  const ids = bad.map(() => newId())
  for (const [i, settings] of bad.entries())
    await inTransaction(db, (tx) => insertTestCarrier(tx, ids[i] ?? '', settings, { priority: 500 }))
  const startedAt = performance.now()
  test = await openCarrierTest(db)
  // A failed bind takes ten seconds.
  expect(performance.now() - startedAt).toBeLessThan(5000)
  await until('the good one is bound', () => test.submitter.links.get(test.linkId)?.state === 'bound')
  await test.reaches((await test.submit()).id, 'delivered')
  const links = [...test.submitter.links.values()].filter(({ carrierId }) => ids.includes(carrierId))
  expect(links).toHaveLength(bad.length)
  await until('every other says why it is not', () => links.every((link) => link.lastError !== null))
  await until('an operator sees it', async () =>
    (await listLinks(test.db)).every(
      ({ id, lastError, state }) => id === test.linkId || (state !== 'bound' && lastError !== null),
    ),
  )
  const errors = new Set(links.map((link) => link.lastError))
  for (const error of errors) expect(error).toMatch(/ENOTFOUND|EAI_AGAIN|ECONNREFUSED/)
  expect(test.errors).toEqual([])
})

it('a wrong password is tried once a minute at most, even if other settings change', async () => {
  await emptyTables(db, 'accounts, carriers, nodes')
  test = await openCarrierTest(db, { simulator: { credentials: { heliogram: 'other' } } })
  await until('it was refused', () => test.simulator.stats().bindsRefused === 1)
  await until('it is told', async () => /RINVPASWD/.test((await listLinks(test.db))[0]?.lastError ?? ''))
  await test.sql`update carriers set pace = 7`
  await until('the pace is known', () => test.submitter.links.get(test.linkId)?.pace === 7)
  expect(test.simulator.stats().bindsRefused).toBe(1)
})
