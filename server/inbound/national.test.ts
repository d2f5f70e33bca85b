/** Replies from numbers without their country code, over a carrier without a `country`. */
import { beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { now } from '../ground/db/clock.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { insertTestSender, openLedgerTest, ourNumber } from '../messages/testing.ts'
import { giveOrphans, listOrphans } from './orphans.ts'
import { storeReply } from './reply.ts'

const british = '447700901501'
const shortCode = '60606'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  for (const sender of [british, shortCode]) await insertTestSender(test.db, test.accountId, test.carrierId, sender)
})

describe('STOP from a national number', () => {
  it.each([
    ['with a trunk prefix', '07700901502', british],
    ['with a trunk prefix, to our number in national form', '07700901502', '07700901501'],
    ['to a short code', '07700901502', shortCode],
    ['to a sender of another country', '07700901502', ourNumber],
  ])('belongs to the person the sender wrote to: %s', async (_, source, destination) => {
    const sender = destination.startsWith('0') ? british : destination
    const asked = await test.send({ theirNumber: '447700901502', sender })
    expect(await says(source, destination)).toBe('stored')
    expect(await isOut('447700901502')).toBe(true)
    expect(
      await test.count('messages', `direction = 'inbound' and in_reply_to = $1 and their_number = '447700901502'`, [
        asked.id,
      ]),
    ).toBe(1)
  })

  it('is of the sender’s country if there was no message', async () => {
    expect(await says('07700901503', british)).toBe('stored')
    expect(await isOut('447700901503')).toBe(true)
  })

  it('that is a full number of another country belongs to the person the sender wrote to', async () => {
    await test.send({ theirNumber: '14791234567' })
    expect(await says('4791234567', ourNumber)).toBe('stored')
    expect([await isOut('14791234567'), await isOut('4791234567')]).toEqual([true, false])
    await test.send({ theirNumber: '4791234568' })
    await test.send({ theirNumber: '14791234568' })
    expect(await says('4791234568', ourNumber)).toBe('stored')
    expect([await isOut('14791234568'), await isOut('4791234568')]).toEqual([false, true])
  })

  it('is kept for the operator if it may belong to nobody or to several, until the carrier has a country', async () => {
    await test.send({ theirNumber: '447700901504', sender: shortCode })
    await test.send({ theirNumber: '497700901504', sender: shortCode })
    expect(await says('07700901504', shortCode)).toBe('orphan')
    expect(await says('07700901505', shortCode)).toBe('orphan')
    expect(await giveOrphans(context(), 10, now())).toBe(0)
    expect(await listOrphans(test.db, undefined, { carrierId: null, number: null }, 9, null)).toMatchObject([
      { source: '07700901505' },
      { source: '07700901504' },
    ])
    await test.sql`update carriers set settings = settings || '{"country": "GB"}' where id = ${test.carrierId}`
    expect(await giveOrphans(context(), 10, now())).toBe(2)
    expect([await isOut('447700901504'), await isOut('447700901505')]).toEqual([true, true])
  })

  const registered = (country: string | null): Promise<unknown> =>
    db.query(`update senders set country = $1 where number = $2`, [country, shortCode])
  const accountIn = (country: string): Promise<unknown> =>
    db.query(`update accounts set settings = settings || jsonb_build_object('default_country', $1::text)`, [country])

  it.each([
    ['07700901506', 'GB', '447700901506'],
    ['7700901506', 'GB', '447700901506'],
    // Also whole numbers of Peru and Egypt.
    ['5125550143', 'US', '15125550143'],
    ['2025550143', 'US', '12025550143'],
    ['01712345678', 'DE', '491712345678'],
    ['5512345678', 'MX', '525512345678'],
  ])(
    'to a short code, %s is of the country that the sender is registered for, %s, else of the account',
    async (source, country, whole) => {
      await accountIn('FR')
      await registered(country)
      expect(await says(source, shortCode)).toBe('stored')
      expect(await isOut(whole)).toBe(true)
      expect(await says(source, shortCode, 'START')).toBe('stored')
      expect(await isOut(whole)).toBe(false)
      await registered(null)
      await accountIn(country)
      expect(await says(source, shortCode)).toBe('stored')
      expect([await isOut(whole), await test.count('opt_outs', 'true')]).toEqual([true, 1])
    },
  )

  it('to a short code is nobody’s in a country where it is no number of people, or that is the one whom the sender wrote to', async () => {
    await registered('GB')
    expect(await says('4791234567', shortCode)).toBe('stored')
    expect(await isOut('4791234567')).toBe(true)
    await test.send({ theirNumber: '201001234567', sender: shortCode })
    expect(await says('201001234567', shortCode)).toBe('stored')
    expect(await isOut('201001234567')).toBe(true)
  })

  it('to a short code without a country is of the one whom the sender wrote to, else of its own country, else listed', async () => {
    await registered(null)
    await test.send({ theirNumber: '12025550144', sender: shortCode })
    for (const source of ['2025550144', '2025550145']) expect(await says(source, shortCode)).toBe('stored')
    expect([await isOut('12025550144'), await isOut('2025550145')]).toEqual([true, true])
    expect(await says('7700901507', shortCode)).toBe('orphan')
    expect(await giveOrphans(context(), 10, now())).toBe(0)
    await accountIn('GB')
    expect(await giveOrphans(context(), 10, now())).toBe(1)
    expect(await isOut('447700901507')).toBe(true)
  })
})

const context = (): Parameters<typeof storeReply>[0] => ({ ...test.context, wake: () => {} })
const says = (source: string, destination: string, text = 'STOP'): ReturnType<typeof storeReply> =>
  storeReply(context(), { linkId: test.linkId, source, destination, text, isPartial: false })
const isOut = (number: string): Promise<boolean> => isOptedOut(test.db, test.context.vault, test.accountId, number)
