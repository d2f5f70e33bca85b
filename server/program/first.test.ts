import { beforeEach, expect, it } from 'vitest'
import type { FirstAccount } from '../accounts/first.ts'
import { testVault } from '../accounts/testing.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { demoNumber, ensureFirst, readCarrierUrl } from './first.ts'
import { smppDefaults } from '../links/carrier-settings.ts'
import { findNamed } from '../senders/candidates.ts'
import { listCarriers } from '../links/carrier-store.ts'

const { db, sql } = await createTestDatabase()
beforeEach(() => emptyTables(db, 'accounts, carriers'))

it('reads a carrier’s address, with defaults', () => {
  expect(readCarrierUrl('smpp://me:se%20cret@smsc.example.com:2776')).toEqual({
    settings: { ...smppDefaults, host: 'smsc.example.com', port: 2776, system_id: 'me', tls: false },
    password: 'se cret',
  })
  expect(readCarrierUrl('smpps://me@[::1]')).toMatchObject({
    settings: { host: '::1', port: 3550, tls: true },
    password: '',
  })
  expect(readCarrierUrl('smpp://me@smsc').settings.port).toBe(2775)
})

it('creates the simulator as the first carrier, with a number for the demo account', async () => {
  const made = await ensure(null, 2775)
  expect(await listCarriers(db)).toMatchObject([{ kind: 'simulator', settings: { port: 2775 } }])
  expect(await findNamed(db, made ? [{ accountId: made.accountId, number: demoNumber }] : [])).toMatchObject([
    { number: demoNumber, isDefault: true, country: 'US', capabilities: ['sms', 'replies'] },
  ])
})

it('creates the environment’s carrier as the first one, without a number', async () => {
  const made = await ensure('smpp://me:secret@smsc.example.com:2775', null)
  const [carrier] = await listCarriers(db)
  expect(carrier).toMatchObject({ name: 'smsc.example.com', kind: 'smpp', settings: { system_id: 'me' } })
  expect(testVault.open(carrier?.secrets ?? Buffer.alloc(0), `carriers.secrets|${carrier?.id ?? ''}`)).toBe('secret')
  const rows = await sql`select 1 from senders where account_id = ${made?.accountId}`
  expect(rows).toEqual([])
})

it('leaves existing carriers unchanged, except the simulator’s port', async () => {
  await ensure(null, 2775)
  const [before] = await listCarriers(db)
  await ensure('smpp://me:secret@smsc.example.com:2775', 2999)
  const [after, ...more] = await listCarriers(db)
  expect(more).toEqual([])
  expect(after?.settings).toEqual({ ...before?.settings, port: 2999 })
})

it('creates one carrier in two starts at once', async () => {
  const made = await Promise.all([ensure(null, 2775), ensure(null, 2775), ensure(null, 2775)])
  expect(made.filter((one) => one !== null)).toHaveLength(1)
  expect(await listCarriers(db)).toHaveLength(1)
})

it('creates none without an address and a simulator', async () => {
  await ensure(null, null)
  expect(await listCarriers(db)).toEqual([])
})

it('creates no account without its carrier, which the next start would not add', async () => {
  await sql`alter table carriers add constraint none check (false)`
  await expect(ensure(null, 2775)).rejects.toThrow('none')
  await sql`alter table carriers drop constraint none`
  expect(await ensure(null, 2775)).not.toBeNull()
  expect(await listCarriers(db)).toHaveLength(1)
})

const ensure = (carrierUrl: string | null, simulatorPort: number | null): Promise<FirstAccount | null> =>
  ensureFirst(db, testVault, { showsKey: true, firstEmail: 'owner@example.com', carrierUrl, simulatorPort })
