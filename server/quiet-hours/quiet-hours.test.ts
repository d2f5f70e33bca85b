import { describe, expect, it } from 'vitest'
import type { QuietHoursChange } from '../accounts/account-settings.ts'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { asAccepted } from '../accept/accepted.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { expireMessages, queueDue } from '../queue/due.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { holdQuiet, releaseHeld } from './hold.ts'
import { moveTo, openLedgerTest } from '../messages/testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

const database = await createTestDatabase()
const test = forEachTest(database.db, openLedgerTest)

const hourMs = 3_600_000
/** A satellite number: no country, so the fallback applies. */
const seaNumber = '870773123456'
const marketing = { type: 'marketing', theirNumber: seaNumber } as const

describe('a message accepted in quiet hours', () => {
  it('waits for their end, and no link gets it', async () => {
    const quiet = nowQuiet()
    await setQuiet(quiet)
    test.ownLinks.room = 10
    const row = await test.send(marketing)
    const until = heldUntil(quiet)
    expect(hold(row)).toEqual(['queued', 'quiet_hours', until])
    expect(renderMessage(row)).toMatchObject({
      status: 'queued',
      hold: { reason: 'quiet_hours', until },
      warnings: [{ code: 'quiet_hours_hold', until }],
    })
    expect(hold(await test.message(row.id))).toEqual(hold(row))
    expect([test.ownLinks.taken, test.ownLinks.room, test.ownLinks.wakes]).toEqual([[], 10, 0])
    expect(await test.count('delayed', 'due_at = $1 and held_at is not null', [until])).toBe(1)
    expect(await test.count('queue', 'true')).toBe(0)
    // A repeated request gets the first response, even after the message has gone.
    await test.sql`update messages set hold_reason = null, hold_until = null`
    expect(asAccepted(await test.message(row.id))).toEqual(row)
    expect(await queueDue(test.db)).toBe(0)
  })

  it('is marketing, unless the account includes more, and never a code', async () => {
    await setQuiet(nowQuiet())
    test.ownLinks.room = 10
    for (const type of ['transactional', 'otp'] as const)
      expect(hold(await test.send({ ...marketing, type }))).toEqual(['queued', null, undefined])
    expect(test.ownLinks.taken).toHaveLength(2)
    await setQuiet({ ...nowQuiet(), applies_to: ['transactional'] })
    expect((await test.send({ ...marketing, type: 'transactional' })).holdReason).toBe('quiet_hours')
    for (const type of ['marketing', 'otp'] as const)
      expect((await test.send({ ...marketing, type })).holdReason).toBe(null)
    // A campaign gives its messages their type.
    await addCampaign({ key: 'receipts', type: 'transactional' })
    expect((await test.send({ ...marketing, type: null, campaignKey: 'receipts' })).holdReason).toBe('quiet_hours')
  })

  it('uses its contact’s zone, else its number’s, else the fallback', async () => {
    await setQuiet({ ...nowQuiet(), fallback_timezone: 'Etc/GMT+12' })
    const campaignId = await addCampaign({ key: 'sale' })
    const holdsOf = async (changes: object): Promise<boolean> =>
      (await test.send({ ...marketing, ...changes })).holdReason !== null
    expect(await holdsOf({})).toBe(false)
    await addContact(campaignId, 'UTC')
    expect([await holdsOf({ campaignId }), await holdsOf({ campaignKey: 'sale' })]).toEqual([true, true])
    // Ghana keeps UTC; a contact with that number lives elsewhere.
    expect(await holdsOf({ theirNumber: '233241234567' })).toBe(true)
    await addContact(campaignId, 'Etc/GMT-12', '233241234567')
    expect(await holdsOf({ theirNumber: '233241234567', campaignId })).toBe(false)
    await addContact(campaignId, 'Nowhere/Else', '233241234568')
    expect(await holdsOf({ theirNumber: '233241234568', campaignId })).toBe(true)
  })

  it('follows its campaign’s hours, which precede the account’s', async () => {
    const [loud, night] = [await addCampaign(), await addCampaign({ key: 'night' })]
    await setQuiet(nowQuiet(), night)
    expect((await test.send({ ...marketing, campaignId: night })).holdReason).toBe('quiet_hours')
    expect((await test.send({ ...marketing, campaignKey: 'night' })).holdReason).toBe('quiet_hours')
    expect((await test.send(marketing)).holdReason).toBe(null)
    await setQuiet(nowQuiet())
    await setQuiet({ enabled: false }, loud)
    expect((await test.send(marketing)).holdReason).toBe('quiet_hours')
    expect((await test.send({ ...marketing, campaignId: loud })).holdReason).toBe(null)
    // The campaign inherits everything but its window.
    await setQuiet({ start: inHours(2), end: inHours(3) }, loud)
    expect((await test.send({ ...marketing, campaignId: loud })).holdReason).toBe(null)
  })

  it('has its default validity from their end, and an explicit one from now', async () => {
    const quiet = nowQuiet()
    await setQuiet(quiet)
    const until = Date.parse(heldUntil(quiet))
    expect((await test.send(marketing)).expiresAt?.getTime()).toBe(until + 10 * hourMs)
    const short = await test.send({ ...marketing, validitySeconds: 60 })
    expect(short.expiresAt?.getTime()).toBe(short.createdAt.getTime() + 60_000)
    expect(await test.count('delayed', 'due_at = expires_at and message_id = $1', [short.id])).toBe(1)
    await test.sql`update delayed set due_at = now(), expires_at = now() where message_id = ${short.id}`
    await test.sql`update messages set expires_at = now() where id = ${short.id}`
    expect(await queueDue(test.db)).toBe(1)
    await expireMessages(test.context)
    expect(await test.message(short.id)).toMatchObject({
      status: 'expired',
      errorCode: 'quiet_hours',
      errorStage: 'queue',
    })
    expect(await test.eventsOf(short.id)).toEqual(['message.failed'])
  })

  it('and expiring in them is ended by a claim too', async () => {
    await setQuiet(nowQuiet())
    const row = await test.send({ ...marketing, validitySeconds: 60 })
    await test.sql`update delayed set due_at = now(), expires_at = now()`
    await test.sql`update messages set expires_at = now()`
    await queueDue(test.db)
    expect(await claimAll()).toEqual([])
    expect(await test.message(row.id)).toMatchObject({ status: 'expired', errorCode: 'quiet_hours' })
  })

  it('can be canceled', async () => {
    await setQuiet(nowQuiet())
    const { id } = await test.send(marketing)
    expect(await cancelMessage(test.context, test.accountId, id)).toMatchObject({
      status: 'canceled',
      holdReason: null,
    })
    expect(await test.count('delayed', 'true')).toBe(0)
  })

  it('and scheduled for later is only reported as to be held', async () => {
    await setQuiet({ enabled: true, start: inHours(1), end: inHours(5) })
    const row = await test.send({ ...marketing, sendAt: new Date(Date.now() + 2 * hourMs) })
    expect(row).toMatchObject({ status: 'scheduled', holdReason: null, warnings: [{ code: 'quiet_hours_hold' }] })
    expect(await test.count('delayed', 'due_at = $1 and held_at is null', [row.sendAt])).toBe(1)
    expect((await test.send(marketing)).warnings).toBe(null)
  })
})

describe('a message whose turn comes in quiet hours', () => {
  it('is held when it is claimed, and the others of its lane go', async () => {
    const campaignId = await addCampaign()
    await addContact(campaignId, 'UTC', '15551230002')
    await addContact(campaignId, 'Etc/GMT-12', '15551230003')
    const send = (theirNumber: string): Promise<MessageRow> =>
      test.send({ ...marketing, campaignId, theirNumber, segments: 2 })
    const rows = [await send('15551230002'), await send('15551230003'), await send('15551230002')]
    const [confirmation] = [await send('15551230002')]
    await test.sql`update messages set is_confirmation = true where id = ${confirmation?.id}`
    const quiet = nowQuiet()
    await setQuiet(quiet)
    expect((await claimAll()).map(({ id }) => id)).toEqual([rows[1]?.id, confirmation?.id])
    for (const row of [rows[0], rows[2]])
      expect(hold(await test.message(row?.id ?? ''))).toEqual(['queued', 'quiet_hours', heldUntil(quiet)])
    expect(await test.count('delayed', 'held_at is not null and due_at = $1', [heldUntil(quiet)])).toBe(2)
    expect(await test.count('queue', 'true')).toBe(0)
    expect(await test.count('intents', 'message_id = any ($1)', [[rows[0]?.id, rows[2]?.id]])).toBe(0)
  })

  it('also has its default validity from their end then, and keeps an explicit one', async () => {
    const rows = [
      await test.send(marketing),
      await test.send({ ...marketing, sendAt: new Date(Date.now() + hourMs) }),
      await test.send({ ...marketing, validitySeconds: 20 * 3600 }),
    ]
    const quiet = nowQuiet()
    await setQuiet(quiet)
    await test.sql`update delayed set due_at = now()`
    expect(await queueDue(test.db)).toBe(1)
    expect(await claimAll()).toEqual([])
    const until = Date.parse(heldUntil(quiet))
    const asked = rows[2]?.expiresAt?.getTime() ?? 0
    for (const [i, expiresAt] of [until + 10 * hourMs, until + 10 * hourMs, asked].entries()) {
      const id = rows[i]?.id ?? ''
      expect((await test.message(id)).expiresAt?.getTime()).toBe(expiresAt)
      const at = new Date(expiresAt)
      const isAt = `message_id = $1 and date_trunc('milliseconds', expires_at) = $2 and due_at <= $2`
      expect(await test.count('delayed', isAt, [id, at])).toBe(1)
    }
  })

  it('gets a new one when it is held again, also after a pause has extended it', async () => {
    const rows = [
      await test.send(marketing),
      await test.send(marketing),
      await test.send({ ...marketing, validitySeconds: 20 * 3600 }),
      await test.send({ ...marketing, validitySeconds: 36_000 }),
    ]
    // The first was accepted on the second; its extension is whole seconds later.
    await test.sql`update messages
      set created_at = date_trunc('second', created_at), expires_at = date_trunc('second', expires_at)
      where id = ${rows[0]?.id}`
    await test.sql`update messages
      set created_at = created_at - interval '20 hours', expires_at = date_trunc('milliseconds', now()) + interval '3 hours'
      where id = ${rows[1]?.id}`
    const read = (): Promise<MessageRow[]> => Promise.all(rows.map(({ id }) => test.message(id)))
    const asked = (await read()).slice(2).map(({ expiresAt }) => expiresAt)
    const quiet = nowQuiet()
    for (const end of [inHours(5), inHours(8)]) {
      await setQuiet({ ...quiet, end })
      await releaseHeld(test.db)
      await queueDue(test.db)
      expect(await claimAll()).toEqual([])
      const held = await read()
      const untils = held.map(({ holdUntil }) => holdUntil?.toISOString().slice(11, 16))
      expect(untils).toEqual([end, end, end, end])
      const expiry = new Date((held[0]?.holdUntil?.getTime() ?? 0) + 10 * hourMs)
      expect(held.map(({ expiresAt }) => expiresAt)).toEqual([expiry, expiry, ...asked])
    }
  })

  it('is also held if it was scheduled, or is tried again', async () => {
    const scheduled = await test.send({ ...marketing, sendAt: new Date(Date.now() + hourMs) })
    const retried = await test.lease(marketing)
    await test.answer(retried, { state: 'refused', move: moveTo('queued', { retryAfterMs: 1 }) })
    const quiet = nowQuiet()
    await setQuiet(quiet)
    await test.sql`update delayed set due_at = now()`
    expect(await queueDue(test.db)).toBe(2)
    expect(await claimAll()).toEqual([])
    for (const id of [scheduled.id, retried.id])
      expect(hold(await test.message(id))).toEqual(['queued', 'quiet_hours', heldUntil(quiet)])
  })

  it('is sent when they are over', async () => {
    const quiet = nowQuiet()
    await setQuiet(quiet)
    const row = await test.send(marketing)
    await setQuiet({ ...quiet, start: inHours(-5), end: inHours(-1) })
    await test.sql`update messages set hold_until = now() where id = ${row.id}`
    await test.sql`update delayed set due_at = now()`
    expect(await queueDue(test.db)).toBe(1)
    expect(await test.message(row.id)).toMatchObject({ status: 'queued', holdReason: null, queuedAt: row.queuedAt })
    expect((await claimAll()).map(({ id }) => id)).toEqual([row.id])
    expect(await test.message(row.id)).toMatchObject({ status: 'sending', holdReason: null, holdUntil: null })
  })
})

describe('a change of quiet hours', () => {
  it('releases messages that are no longer in them, and holds the rest again', async () => {
    const quiet = nowQuiet()
    await setQuiet({ ...quiet, fallback_timezone: 'UTC' })
    const campaignId = await addCampaign()
    await addContact(campaignId, 'UTC')
    const [free, still] = [await test.send(marketing), await test.send({ ...marketing, campaignId })]
    await setQuiet({ ...quiet, fallback_timezone: 'Etc/GMT+12' })
    expect(await releaseHeld(test.db)).toBe(2)
    expect(await releaseHeld(test.db)).toBe(0)
    expect(await queueDue(test.db)).toBe(2)
    expect((await claimAll()).map(({ id }) => id)).toEqual([free.id])
    expect(hold(await test.message(still.id))).toEqual(['queued', 'quiet_hours', heldUntil(quiet)])
    await setQuiet(null)
    expect(await releaseHeld(test.db)).toBe(1)
    await queueDue(test.db)
    expect((await claimAll()).map(({ id }) => id)).toEqual([still.id])
  })

  it('releases messages held since by a process that did not know of it', async () => {
    await setQuiet(nowQuiet())
    await test.sql`update accounts set quiet_hours = null, quiet_hours_changed_at = now() where id = ${test.accountId}`
    expect((await test.send(marketing)).holdReason).toBe('quiet_hours')
    expect(await releaseHeld(test.db)).toBe(1)
  })

  it('of a campaign reads nothing held for others', async () => {
    const campaignId = await addCampaign()
    await setQuiet(nowQuiet())
    await test.send(marketing)
    await test.sql`update accounts set quiet_hours_changed_at = now() - interval '1 hour'`
    await test.sql`update campaigns set quiet_hours_changed_at = now() where id = ${campaignId}`
    await inTransaction(test.db, async (tx) => {
      await tx.query('lock table messages in access exclusive mode')
      // Readers of messages would wait for these locks.
      const pool = openPool(database.connection, { name: 'sweep', max: 1, settings: { lock_timeout: '1s' } })
      try {
        expect(await releaseHeld(pool)).toBe(0)
      } finally {
        await pool.end()
      }
    })
  })

  it('of a campaign changes nothing else', async () => {
    const campaignId = await addCampaign()
    await setQuiet(nowQuiet())
    const [other, own] = [await test.send(marketing), await test.send({ ...marketing, campaignId })]
    // Long before the next change: messages held within seconds of a change may be released in vain.
    await test.sql`update accounts set quiet_hours_changed_at = now() - interval '1 hour'`
    await setQuiet({ enabled: false }, campaignId)
    expect(await releaseHeld(test.db)).toBe(1)
    await queueDue(test.db)
    expect((await claimAll()).map(({ id }) => id)).toEqual([own.id])
    expect((await test.message(other.id)).holdReason).toBe('quiet_hours')
  })
})

it('looks up only a message’s contact, however many campaigns have contacts', async () => {
  const { accountId, db } = test
  const campaignId = await addCampaign()
  await addContact(campaignId, 'UTC')
  await db.query(
    `with campaign as (
       insert into campaigns (account_id, id, name) select $1, gen_random_uuid(), 'Sale' from generate_series(1, 3000) returning id
     )
     insert into contacts (account_id, id, campaign_id, phone_number) select $1, gen_random_uuid(), id, '15551230001' from campaign`,
    [accountId],
  )
  await db.query('analyze contacts')
  const { id } = await test.send({ ...marketing, campaignId })
  await setQuiet(nowQuiet())
  const [lane] = await findLanes(db)
  const look = { id: lane?.id ?? '', laneId: lane?.laneId ?? '', accountId, type: 'marketing' } as const
  const blocks = await inTransaction(db, async (tx) => {
    const read = async (): Promise<number> => {
      const { rows } = await tx.query<{ blocks: number }>(
        `select sum(pg_stat_get_xact_blocks_fetched(oid))::int as blocks
         from (select 'contacts'::regclass as oid union all select indexrelid from pg_index where indrelid = 'contacts'::regclass) r`,
      )
      return rows[0]?.blocks ?? 0
    }
    const before = await read()
    expect(await holdQuiet(tx, test.context.quietHours, look, noId, 100)).toMatchObject({ held: 1 })
    return (await read()) - before
  })
  // An index of 3000 entries has some 40.
  expect(blocks).toBeLessThan(20)
  expect((await test.message(id)).holdReason).toBe('quiet_hours')
})

/** The time of day in UTC, some hours from now. */
const inHours = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString().slice(11, 16)
/** Quiet in UTC from an hour ago for six hours; not in zones half a day away. */
const nowQuiet = (): QuietHoursChange => ({ enabled: true, start: inHours(-1), end: inHours(5) })

async function setQuiet(quiet: QuietHoursChange | null, campaignId: string | null = null): Promise<void> {
  const [table, key] = campaignId === null ? ['accounts', 'id = $1'] : ['campaigns', 'account_id = $1 and id = $3']
  await test.db.query(`update ${table} set quiet_hours = $2, quiet_hours_changed_at = now() where ${key}`, [
    test.accountId,
    quiet && JSON.stringify(quiet),
    ...(campaignId === null ? [] : [campaignId]),
  ])
  await test.context.quietHours.refresh()
}

async function addCampaign(fields: { key?: string; type?: string } = {}): Promise<string> {
  const id = newId()
  await test.sql`insert into campaigns (account_id, id, name, key, type)
    values (${test.accountId}, ${id}, 'Sale', ${fields.key ?? null}, ${fields.type ?? null})`
  return id
}

async function addContact(campaignId: string, timezone: string | null, number = seaNumber): Promise<void> {
  await test.sql`insert into contacts (account_id, id, campaign_id, phone_number, timezone)
    values (${test.accountId}, ${newId()}, ${campaignId}, ${number}, ${timezone})`
}

/** Claims everything that may go, as the claimer does. */
async function claimAll(): Promise<Handover[]> {
  const handovers: Handover[] = []
  for (const { id, laneId, accountId, type } of await findLanes(test.db)) {
    const hours = test.context.quietHours
    const quiet = hours.mayHold(accountId, type) ? { hours, accountId, type } : null
    const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
    const claim = await claimMessages(test.context, test.nodeId, rooms, id, noId, 100, { laneId, quiet })
    handovers.push(...claim.handovers)
  }
  return handovers
}

const hold = ({ status, holdReason, holdUntil }: MessageRow): unknown[] => [
  status,
  holdReason,
  holdUntil?.toISOString(),
]
const heldUntil = (quiet: QuietHoursChange): string => {
  const end = new Date(`${new Date(Date.now() + 5 * hourMs).toISOString().slice(0, 11)}${quiet.end}:00Z`)
  return end.toISOString()
}
