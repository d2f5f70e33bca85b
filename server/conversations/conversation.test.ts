import { describe, expect, it } from 'vitest'
import { createTestAccount, errorsOf, type Call, type TestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { untilBlocked } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { noteReply } from './store.ts'
import { messageRoutes } from '../messages/http.ts'
import { conversationRoutes } from './http.ts'
import { storeReply, type ReplyIn } from '../inbound/reply.ts'
import { insertTestSender, ledgerWorld, ourNumber } from '../messages/testing.ts'

const { db, sql, account, other: stranger, test, call } = await ledgerWorld([messageRoutes, conversationRoutes])

let people = 0

describe('a conversation', () => {
  it('begins with the first reply and belongs to the two numbers', async () => {
    const person = newPerson()
    await test.send({ theirNumber: person })
    expect((await list(`their_number=${person}`)).data).toEqual([])
    await says(person, 'One')
    await says(person, 'Two')
    const conversation = await conversationWith(person)
    expect(conversation).toMatchObject({
      object: 'conversation',
      our_number: ourNumber,
      their_number: person,
      unread: 2,
      assignee: null,
      last_message: { direction: 'inbound', message: 'Two', conversation: conversation['id'] },
    })
    const { body } = await call('GET', `/v1/conversations/${String(conversation['id'])}`)
    expect(body).toEqual(conversation)
  })

  it('has the campaign and the contact of the answered message', async () => {
    const [person, campaignId, contactId] = [newPerson(), newId(), newId()]
    await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'Sale')`
    const sent = await test.send({ theirNumber: person, campaignId })
    await test.sql`update messages set contact_id = ${contactId} where id = ${sent.id}`
    await says(person, 'Yes please')
    const expected = { campaign: showId('cmp', campaignId), contact: showId('ctc', contactId) }
    const conversation = await conversationWith(person)
    expect(conversation).toMatchObject({
      ...expected,
      last_message: { ...expected, in_reply_to: showId('msg', sent.id) },
    })
    // A reply outside a campaign removes neither value; of two replies with values, the later one counts.
    const reply = await test.message(parseId('msg', String((conversation['last_message'] as Body)['id'])) ?? '')
    const note = (said: Pick<typeof reply, 'campaignId' | 'contactId'>): Promise<void> =>
      inTransaction(test.db, (tx) => noteReply(tx, { ...reply, ...said }))
    await note({ campaignId: null, contactId: null })
    expect(await conversationWith(person)).toMatchObject(expected)
    const [campaign, contact] = [newId(), newId()]
    await note({ campaignId: campaign, contactId: contact })
    expect(await conversationWith(person)).toMatchObject({
      campaign: showId('cmp', campaign),
      contact: showId('ctc', contact),
    })
  })

  it('keeps the details of its replies when one of them has fewer, or arrives late', async () => {
    const [person, campaignId] = [newPerson(), newId()]
    await says(person, 'One')
    const late = (await conversationWith(person))['last_message'] as Body
    await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'Sale')`
    await test.send({ theirNumber: person, campaignId })
    await says(person, 'Two')
    const before = await conversationWith(person)
    expect(before).toMatchObject({ campaign: showId('cmp', campaignId), unread: 2 })
    // It was stored before the others, but is recorded after them.
    const row = await test.message(parseId('msg', String(late['id'])) ?? '')
    await inTransaction(test.db, (tx) => noteReply(tx, { ...row, campaignId: null }))
    expect(await conversationWith(person)).toEqual({ ...before, unread: 3 })
  })

  it('ends with the last message of either direction', async () => {
    const person = newPerson()
    await says(person, 'Are you open?')
    await test.send({ theirNumber: person, body: 'Until six' })
    await test.send({ theirNumber: newPerson(), body: 'To somebody else' })
    expect((await conversationWith(person))['last_message']).toMatchObject({
      direction: 'outbound',
      message: 'Until six',
    })
  })

  it('exists once for each of our numbers, with its own messages and read state', async () => {
    const [person, second] = [newPerson(), '15557650009']
    await insertTestSender(test.db, test.accountId, test.carrierId, second)
    await says(person, 'One')
    await says(person, 'Two', { destination: second })
    await test.send({ theirNumber: person, sender: second, body: 'Three' })
    const [other] = (await list(`their_number=${person}&our_number=${second}`)).data
    const [own] = (await list(`their_number=${person}&our_number=${ourNumber}`)).data
    expect([other?.['last_message'], own?.['last_message']]).toMatchObject([{ message: 'Three' }, { message: 'One' }])
    const { body } = await call('GET', `/v1/conversations/${String(own?.['id'])}/messages`)
    expect((body['data'] as Body[]).map((one) => one['message'])).toEqual(['One'])
    // The person's replies follow this message; only those in this conversation are unread.
    const before = await test.send({ theirNumber: newPerson() })
    await says(person, 'Four')
    await says(person, 'Five', { destination: second })
    const read = await call('POST', `/v1/conversations/${String(own?.['id'])}/read`, {
      last_message: showId('msg', before.id),
    })
    expect(read.body['unread']).toBe(1)
  })

  it('needs no reader after STOP', async () => {
    const person = newPerson()
    await says(person, 'Hello')
    await says(person, 'STOP')
    expect(await conversationWith(person)).toMatchObject({ unread: 1, last_message: { direction: 'outbound' } })
  })

  it('hides texts from callers who may not read them, and everything from other accounts', async () => {
    const person = newPerson()
    await says(person, 'Secret')
    const { id } = await conversationWith(person)
    expect((await list(`their_number=${person}`, stranger)).data).toEqual([])
    for (const path of ['', '/messages'])
      expect((await call('GET', `/v1/conversations/${String(id)}${path}`, undefined, stranger.headers)).status).toBe(
        404,
      )
    // A key with every right except reading texts.
    const reader = await createTestAccount(db, { scopes: ['messages:read', 'messages:write'] })
    await sql`update api_keys set account_id = ${account.accountId} where id = ${reader.keyId}`
    const url = `/v1/conversations/${String(id)}`
    const answers = [
      await call('GET', `/v1/conversations?their_number=${person}`, undefined, reader.headers),
      await call('GET', url, undefined, reader.headers),
      await call('GET', `${url}/messages`, undefined, reader.headers),
      await call('PATCH', url, { assignee: null }, reader.headers),
      await call('POST', `${url}/read`, {}, reader.headers),
    ]
    for (const { status, body } of answers) {
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('"message":null')])
      expect(JSON.stringify(body)).not.toContain('Secret')
    }
  })
})

describe('the list of conversations', () => {
  it('starts with the latest reply, in pages that a new reply does not disturb', async () => {
    const [a, b, c] = [newPerson(), newPerson(), newPerson()]
    for (const person of [a, b, c, a]) await says(person, 'Hi')
    const first = await list('limit=2')
    expect(first.data.map((one) => one['their_number'])).toEqual([a, c])
    await says(c, 'Again')
    const cursor = String(first['next_cursor'])
    const foreign = await call('GET', `/v1/conversations?unread=true&cursor=${cursor}`)
    expect(foreign.body['code']).toBe('invalid_cursor')
    const next = await list(`limit=2&cursor=${cursor}`)
    expect(next.data[0]).toMatchObject({ their_number: b })
    // Rows written during another transaction may appear again.
    const news = await list(`limit=10&cursor=${String(first['refresh_cursor'])}`)
    expect(news.data[0]).toMatchObject({ their_number: c })
  })

  it('is filtered by unread, assignee and numbers', async () => {
    const person = newPerson()
    await says(person, 'Hi')
    const { id } = await conversationWith(person)
    const userId = await newUser(account)
    expect((await call('PATCH', `/v1/conversations/${String(id)}`, { assignee: userId })).body['assignee']).toBe(userId)
    const idsOf = async (query: string): Promise<unknown[]> => (await list(query)).data.map((one) => one['id'])
    expect(await idsOf(`assignee=${userId}&unread=true`)).toEqual([id])
    expect(await idsOf(`assignee=${userId}&unread=false`)).toEqual([])
    expect(await idsOf('assignee=none')).not.toContain(id)
    await call('POST', `/v1/conversations/${String(id)}/read`, {})
    expect(await idsOf(`their_number=${person}&unread=true`)).toEqual([])
    expect(await idsOf(`their_number=${person}&unread=false`)).toEqual([id])
    await call('PATCH', `/v1/conversations/${String(id)}`, { assignee: null })
    expect(await idsOf(`their_number=${person}&assignee=none`)).toEqual([id])
    expect(await idsOf(`our_number=%2B${ourNumber}&limit=1`)).toEqual([id])
    expect(await idsOf(`our_number=15550000000`)).toEqual([])
    expect((await call('GET', '/v1/conversations?assignee=me')).status).toBe(422)
    expect(await call('GET', '/v1/conversations?their_number=12&our_number=a-b-c-d-e-f-g')).toMatchObject({
      status: 422,
      body: {
        errors: [
          { pointer: '?our_number', code: 'invalid_sender' },
          { pointer: '?their_number', code: 'invalid_sender' },
        ],
      },
    })
    expect((await list('their_number=72727&our_number=Shop')).data).toEqual([])
  })

  it('is filtered by the answered campaign, by its id or key', async () => {
    const [person, campaignId] = [newPerson(), newId()]
    await test.sql`insert into campaigns (account_id, id, key, name)
      values (${test.accountId}, ${campaignId}, 'harvest', 'Harvest')`
    await test.send({ theirNumber: person, campaignId })
    await says(person, 'Yes please')
    await says(newPerson(), 'Hi')
    const { id } = await conversationWith(person)
    const campaign = showId('cmp', campaignId)
    for (const query of [
      `campaign=${campaign}`,
      'campaign=harvest&unread=true',
      `campaign=harvest&their_number=${person}`,
    ])
      expect((await list(query)).data).toMatchObject([{ id, campaign }])
    expect((await list('campaign=harvest&unread=false')).data).toEqual([])
    expect(await call('GET', '/v1/conversations?campaign=harvests&assignee=me')).toMatchObject({
      status: 422,
      body: {
        errors: [
          { pointer: '?assignee', code: 'invalid_value' },
          { pointer: '?campaign', code: 'campaign_not_found' },
        ],
      },
    })
  })

  it('is searched by digits of the number and words of the last message, but not by texts that the caller may not read', async () => {
    const [ann, bob] = [newPerson(), newPerson()]
    await says(ann, 'Table for six?')
    await says(ann, 'Zürich, pour ÉLODIE')
    await says(bob, 'Table for 42')
    const search = async (text: string, more = ''): Promise<unknown[]> =>
      (await list(`search=${encodeURIComponent(text)}${more}`)).data.map((one) => one['their_number'])
    expect(await search('zurich elod')).toEqual([ann])
    expect(await search('TABLE for')).toEqual([bob])
    expect(await search('for six?')).toEqual([])
    expect(await search(`+${ann.slice(0, 4)} ${ann.slice(4)}`)).toEqual([ann])
    expect(await search(`${bob.slice(-6)} table`)).toEqual([bob])
    expect(await search('for 42', '&unread=true&state=open&limit=1')).toEqual([bob])
    const both = `search=${ann.slice(0, 4)}&limit=1`
    const found = (await list(`search=${ann.slice(0, 4)}&limit=200`)).data.map((one) => one['id'])
    expect(found.length).toBeGreaterThan(2)
    const seen: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(cursor === '' ? both : `${both}&cursor=${cursor}`)
      seen.push(...page.data.map((one) => one['id']))
      cursor = page['next_cursor'] as string | null
    }
    expect(seen).toEqual(found)
    const reader = await createTestAccount(test.db, { scopes: ['messages:read'] })
    await test.sql`update api_keys set account_id = ${account.accountId} where id = ${reader.keyId}`
    const hidden = async (text: string): Promise<unknown> =>
      (await call('GET', `/v1/conversations?search=${encodeURIComponent(text)}`, undefined, reader.headers)).body[
        'data'
      ]
    expect(await hidden('zurich')).toEqual([])
    expect(await hidden(ann)).toMatchObject([{ their_number: ann }])
    expect((await call('GET', '/v1/conversations?search=x')).status).toBe(422)
  })

  it('is searched by the name of the sender, if a carrier states one', async () => {
    await says('Shop', 'Hi')
    expect(await conversationWith('Shop')).toMatchObject({ their_number: 'Shop', our_number: ourNumber })
  })
})

describe('work on a conversation', () => {
  it('is for users of the account', async () => {
    const person = newPerson()
    await says(person, 'Hi')
    const { id } = await conversationWith(person)
    for (const assignee of ['me', showId('usr', newId()), await newUser(stranger)])
      expect(errorsOf((await call('PATCH', `/v1/conversations/${String(id)}`, { assignee })).body)).toEqual([
        '#/assignee invalid_value',
      ])
    await call('PATCH', `/v1/conversations/${String(id)}`, { assignee: await newUser(account) })
    expect((await call('PATCH', `/v1/conversations/${String(id)}`, { assignee: null })).body['assignee']).toBeNull()
  })

  it('closes it until the next reply, unless Heliogram answers that reply itself', async () => {
    const person = newPerson()
    await says(person, 'One')
    const { id, last_message: seen } = await conversationWith(person)
    const change = (body: Body): ReturnType<Call> => call('PATCH', `/v1/conversations/${String(id)}`, body)
    const inState = async (state: string): Promise<unknown[]> =>
      (await list(`state=${state}&their_number=${person}`)).data.map((one) => one['id'])
    const assignee = await newUser(account)
    const closed = await change({ state: 'closed', assignee })
    const closedBy = showId('key', account.keyId)
    expect(closed.body).toMatchObject({ state: 'closed', closed_by: closedBy, assignee, unread: 1 })
    expect([await inState('open'), await inState('closed')]).toEqual([[], [id]])
    expect((await list(`state=closed&assignee=${assignee}`)).data).toMatchObject([{ id }])
    // Closing it again does not change who closed it.
    expect((await change({ state: 'closed' })).body['closed_at']).toBe(closed.body['closed_at'])
    await says(person, 'HELP')
    expect((await conversationWith(person))['state']).toBe('closed')
    await says(person, 'Two')
    expect(await conversationWith(person)).toMatchObject({ state: 'open', closed_at: null, closed_by: null, assignee })
    // A newer reply keeps it open.
    const lastSeen = { last_message: (seen as Body)['id'] }
    expect((await change({ state: 'closed', ...lastSeen })).body['state']).toBe('open')
    const { last_message: last } = await conversationWith(person)
    const { body } = await change({ state: 'closed', last_message: (last as Body)['id'] })
    expect(body['state']).toBe('closed')
    expect((await change({ state: 'open' })).body).toMatchObject({ state: 'open', closed_at: null })
    expect(errorsOf((await change({ assignee: 'me', state: 'open', ...lastSeen })).body)).toEqual([
      '#/assignee invalid_value',
      '#/last_message invalid_value',
    ])
    expect(errorsOf((await change({ state: 'done', assignee: 'me', last_message: 'x', why: 1 })).body)).toEqual([
      '#/assignee invalid_value',
      '#/last_message invalid_value',
      '#/state invalid_value',
      '#/why unknown_field',
    ])
    expect((await change({})).status).toBe(422)
    expect((await change({ state: 'closed', assignee: showId('usr', newId()) })).status).toBe(422)
    expect(await inState('open')).toEqual([id])
  })

  it('marks what was seen as read, and not later replies, or for another reader', async () => {
    const [person, another] = [newPerson(), newPerson()]
    await says(another, 'One')
    await says(person, 'One')
    const seen = await conversationWith(person)
    await says(person, 'Two')
    await says(person, 'HELP')
    const read = (body: Body): ReturnType<Call> => call('POST', `/v1/conversations/${String(seen['id'])}/read`, body)
    const { body } = await read({ last_message: (seen['last_message'] as Body)['id'] })
    expect(body['unread']).toBe(1)
    expect((await read({})).body['unread']).toBe(0)
    // Reading an older message does not make later ones unread.
    expect((await read({ last_message: (seen['last_message'] as Body)['id'] })).body['unread']).toBe(0)
    for (const last_message of ['x', showId('msg', newId())])
      expect(errorsOf((await read({ last_message })).body)).toEqual(['#/last_message invalid_value'])
    expect((await conversationWith(another))['unread']).toBe(1)
  })

  it('leaves a reply unread that was being stored while earlier ones were read', async () => {
    const person = newPerson()
    await says(person, 'One')
    const { id, last_message: seen } = await conversationWith(person)
    const row = await test.message(parseId('msg', String((seen as Body)['id'])) ?? '')
    const { reading } = await inTransaction(test.db, async (tx) => {
      const late = newId()
      await tx.query(
        `insert into messages select (jsonb_populate_record(m, jsonb_build_object('id', $2::uuid))).* from messages m where id = $1`,
        [row.id, late],
      )
      await noteReply(tx, { ...row, id: late })
      const answer = call('POST', `/v1/conversations/${String(id)}/read`, {})
      await untilBlocked(test.db, 1)
      return { reading: answer }
    })
    expect((await reading).body['unread']).toBe(1)
  })

  it('reports, without numbers in the body, that nothing can be sent to them', async () => {
    const send = async (person: string, body: Body): Promise<unknown> => {
      const { id } = await conversationWith(person)
      const { status, body: answer } = await call('POST', `/v1/conversations/${String(id)}/messages`, body)
      return [status, answer['errors']]
    }
    await says('Post', 'Your parcel is here')
    expect(await send('Post', { message: 'Thank you' })).toEqual([
      422,
      [
        {
          pointer: '#',
          code: 'invalid_phone_number',
          detail:
            'Post, a number of the conversation, must be 7 to 15 digits with the country code, such as 15551234567',
        },
      ],
    ])
    const person = newPerson()
    await says(person, 'Hello')
    // A number that the account has given up.
    await test.sql`update conversations set our_number = '15550000999' where their_number = ${person}`
    expect(await send(person, { message: 'Hi' })).toEqual([
      422,
      [
        {
          pointer: '#',
          code: 'sender_not_found',
          detail: '15550000999, a number of the conversation, is not a sender of this account',
        },
      ],
    ])
  })

  it('answers from the number that the person wrote to, once for a repeated request', async () => {
    const person = newPerson()
    await says(person, 'Are you open?')
    const { id } = await conversationWith(person)
    const url = `/v1/conversations/${String(id)}/messages`
    const answer = (): ReturnType<Call> =>
      call('POST', url, { message: 'Until six' }, { 'idempotency-key': `reply-${person}` })
    const first = await answer()
    expect(first.status).toBe(202)
    expect(first.body).toMatchObject({ to: person, from: ourNumber, message: 'Until six', direction: 'outbound' })
    const second = await answer()
    expect([second.body['id'], second.headers['idempotency-replayed']]).toEqual([first.body['id'], 'true'])
    const { body } = await call('GET', url)
    expect((body['data'] as Body[]).map((one) => [one['direction'], one['message']])).toEqual([
      ['outbound', 'Until six'],
      ['inbound', 'Are you open?'],
    ])
    expect(errorsOf((await call('POST', url, { message: 'x', to: '15551230001' })).body)).toEqual([
      '#/to unknown_field',
    ])
    await says(person, 'STOP')
    expect((await call('POST', url, { message: 'x' })).body['code']).toBe('recipient_opted_out')
  })
})

it('gives an answer, and a STOP to it, the campaign that it names; without one both have none', async () => {
  const campaignId = newId()
  await test.sql`insert into campaigns (account_id, id, name) values (${account.accountId}, ${campaignId}, 'Sale')`
  const campaign = showId('cmp', campaignId)
  for (const [named, expected] of [
    [{ campaign }, campaign],
    [{}, null],
  ] as const) {
    const person = newPerson()
    await test.send({ theirNumber: person, campaignId })
    await says(person, 'Are you open?')
    const { id } = await conversationWith(person)
    const url = `/v1/conversations/${String(id)}/messages`
    expect((await call('POST', url, { message: 'Until six', ...named })).body).toMatchObject({ campaign: expected })
    await says(person, 'STOP')
    const { body } = await call('GET', `/v1/messages?direction=inbound&from=${person}&limit=1`)
    expect(body['data']).toMatchObject([{ keyword: 'stop', campaign: expected }])
  }
})

async function newUser({ accountId }: TestAccount): Promise<string> {
  const id = newId()
  await test.sql`insert into users (account_id, id, email, password_hash, role)
    values (${accountId}, ${id}, ${`${id}@example.com`}, 'x', 'sender')`
  expect(parseId('usr', showId('usr', id))).toBe(id)
  return showId('usr', id)
}

type Body = Record<string, unknown>

const newPerson = (): string => `1555300${String(people++).padStart(4, '0')}`

const says = (source: string, text: string, changes: Partial<ReplyIn> = {}): ReturnType<typeof storeReply> =>
  storeReply(
    { ...test.context, wake: () => {} },
    { linkId: test.linkId, source, destination: ourNumber, text, isPartial: false, ...changes },
  )

async function list(query: string, who = account): Promise<{ data: Body[]; [member: string]: unknown }> {
  const { status, body } = await call('GET', `/v1/conversations?${query}`, undefined, who.headers)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as { data: Body[] }
}

async function conversationWith(person: string): Promise<Body> {
  const { data } = await list(`their_number=${person}`)
  expect(data).toHaveLength(1)
  return data[0] ?? {}
}
