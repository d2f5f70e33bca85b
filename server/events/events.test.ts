import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { callbackEndpointId, eventTypes, recordEvents, Subscriptions, type EventType, type NewEvent } from './events.ts'
import { eventPatterns, subscribes, typesOf, type EventPattern } from './event-types.ts'
import { newId, parseId } from '../ground/base/ids.ts'

let accountId: string

const { db, sql } = await createTestDatabase()
beforeEach(async () => {
  await emptyTables(db, 'accounts, events, outbox')
  accountId = newId()
  await sql`insert into accounts (id, name) values (${accountId}, 'Acme')`
})

const nowhere = { nodeId: null, offer: () => {} }

describe('a subscription', () => {
  it('to a family or to everything includes unknown types, but no other family', async () => {
    const [all, family, other] = [
      await addWebhook(['*']),
      await addWebhook(['message.*']),
      await addWebhook(['contact.*']),
    ]
    const record = (type: string): Promise<unknown> => recordEvents(db, [event({ type: type as EventType })], nowhere)
    for (const type of ['message.delivered', 'message.read', 'messages.read', 'contact.opted_in']) await record(type)
    const rows = await sql<{ type: string; endpoint: string }>`select e.type, o.endpoint_id as endpoint
      from outbox o join events e on e.id = o.event_id`
    const typesAt = (id: string): string[] =>
      rows
        .filter(({ endpoint }) => endpoint === id)
        .map(({ type }) => type)
        .sort()
    expect(typesAt(all)).toEqual(['contact.opted_in', 'message.delivered', 'message.read', 'messages.read'])
    expect(typesAt(family)).toEqual(['message.delivered', 'message.read'])
    expect(typesAt(other)).toEqual(['contact.opted_in'])
  })

  it('matches the same types in memory as in the database, so that the wanted events are recorded', async () => {
    for (const pattern of eventPatterns) {
      await emptyTables(db, 'webhooks')
      await addWebhook([pattern])
      const subscriptions = new Subscriptions(db)
      await subscriptions.refresh()
      const wanted = (Object.keys(eventTypes) as EventType[]).filter(
        (type) => !eventTypes[type].isContract && subscriptions.wants(accountId, type),
      )
      expect([pattern, wanted]).toEqual([pattern, typesOf([pattern]).filter((type) => !eventTypes[type].isContract)])
      const { rows } = await db.query<{ type: string }>(
        `select t.type from unnest($1::text[]) as t (type), webhooks w where ${subscribes('w', 't.type')} order by 1`,
        [Object.keys(eventTypes)],
      )
      expect([pattern, rows.map(({ type }) => type)]).toEqual([pattern, typesOf([pattern]).toSorted()])
    }
  })
})

describe('an event', () => {
  it('is recorded with its payload, and due for every endpoint that wants it', async () => {
    const [first, second] = [
      await addWebhook(['message.delivered']),
      await addWebhook(['message.delivered', 'message.failed']),
    ]
    await addWebhook(['message.failed'])
    await addWebhook(['message.delivered'], { enabled: false })
    const messageId = newId()
    await recordEvents(db, [event({ messageId, sequence: 3 })], nowhere)
    const rows = await sql<{
      id: string
      payload: string
      message_id: string
      sequence: number
    }>`select id, payload, message_id, sequence
      from events`
    expect(rows).toMatchObject([{ message_id: messageId, sequence: 3 }])
    const payload = JSON.parse(rows[0]?.payload ?? '') as Record<string, string>
    expect(payload).toEqual({
      id: expect.stringMatching(/^evt_/) as string,
      type: 'message.delivered',
      timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string,
      api_version: 'v1',
      sequence: 3,
      data: { message: { id: 'msg_x' } },
    })
    expect(parseId('evt', payload['id'] ?? '')).toBe(rows[0]?.id)
    expect((await due()).map((row) => row.endpoint).sort()).toEqual([first, second].sort())
  })

  it('belongs to its account only', async () => {
    const other = newId()
    await sql`insert into accounts (id, name) values (${other}, 'Other')`
    await addWebhook(['message.delivered'], { account: other })
    await recordEvents(db, [event()], nowhere)
    expect(await due()).toEqual([])
  })

  it('goes to its callback address instead of the endpoints', async () => {
    await addWebhook(['message.delivered'])
    const callbackUrl = 'https://example.org/hook?x=1'
    await recordEvents(db, [event({ callbackUrl })], nowhere)
    expect(await due()).toMatchObject([{ endpoint: callbackEndpointId(accountId, callbackUrl), url: callbackUrl }])
  })

  it('goes to one endpoint only if it is meant for that, with or without a subscription', async () => {
    await addWebhook(['message.delivered'])
    const endpointId = await addWebhook(['message.failed'])
    await recordEvents(db, [event({ endpointId, callbackUrl: 'https://example.org/' })], nowhere)
    expect(await due()).toMatchObject([{ endpoint: endpointId, url: null }])
  })

  it('is leased to the node that creates it, and offered with everything needed to post it', async () => {
    const endpointId = await addWebhook(['message.delivered'])
    const nodeId = newId()
    const postings = await recordEvents(db, [event(), event()], { nodeId, offer: () => {} })
    expect((await due()).map((row) => row.leasedBy)).toEqual([nodeId, nodeId])
    expect(postings).toMatchObject([{ endpointId, accountId, try: 1, url: null }, { endpointId }])
    expect(postings[0]?.payload).toContain('"type":"message.delivered"')
  })

  it('does not exist if its transaction rolls back', async () => {
    await addWebhook(['message.delivered'])
    await inTransaction(db, async (tx) => {
      await recordEvents(tx, [event()], nowhere)
      throw new Error('undone')
    }).catch(() => {})
    const { rowCount } = await db.query('select 1 from events')
    expect([rowCount, await due()]).toEqual([0, []])
  })

  it('of no type is nothing', async () => {
    expect(await recordEvents(db, [], nowhere)).toEqual([])
  })
})

describe('a callback’s endpoint', () => {
  it('is one per account and origin, with a UUID', () => {
    const id = callbackEndpointId(accountId, 'https://example.com/a')
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(callbackEndpointId(accountId, 'https://example.com/b?c')).toBe(id)
    expect(callbackEndpointId(accountId, 'https://example.com:8443/a')).not.toBe(id)
    expect(callbackEndpointId(newId(), 'https://example.com/a')).not.toBe(id)
  })
})

describe('subscriptions', () => {
  it('always cover contract events, and others while an endpoint wants them', async () => {
    const subscriptions = new Subscriptions(db)
    await subscriptions.refresh()
    const contract = Object.entries(eventTypes).filter(([, type]) => type.isContract)
    expect(contract.map(([type]) => type)).toEqual(['message.delivered', 'message.failed', 'message.received'])
    for (const type of Object.keys(eventTypes) as EventType[])
      expect(subscriptions.wants(accountId, type)).toBe(eventTypes[type].isContract)
    await addWebhook(['message.sent', 'message.delivered'])
    await subscriptions.refresh()
    expect([subscriptions.wants(accountId, 'message.sent'), subscriptions.wants(newId(), 'message.sent')]).toEqual([
      true,
      false,
    ])
    await sql`update webhooks set enabled = false`
    await subscriptions.refresh()
    expect(subscriptions.wants(accountId, 'message.sent')).toBe(false)
  })
})

const event = (changes: Partial<NewEvent> = {}): NewEvent => ({
  accountId,
  type: 'message.delivered',
  data: { message: { id: 'msg_x' } },
  ...changes,
})

async function addWebhook(events: EventPattern[], { enabled = true, account = accountId } = {}): Promise<string> {
  const id = newId()
  await sql`insert into webhooks (account_id, id, url, events, secret, enabled)
    values (${account}, ${id}, 'https://example.com/', ${events}, '', ${enabled})`
  return id
}

async function due(): Promise<{ endpoint: string; event: string; url: string | null; leasedBy: string | null }[]> {
  const rows = await sql<{
    endpoint: string
    event: string
    url: string | null
    leasedBy: string | null
  }>`select endpoint_id as endpoint, event_id as event, url, leased_by as "leasedBy"
    from outbox order by event_id`
  return rows
}
