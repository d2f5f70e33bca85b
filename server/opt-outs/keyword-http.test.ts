import { describe, expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { forgetNumbers } from './opt-out.ts'
import { account, add, call, dataOf, database, errorsOf, openOptOutTests, person, say, test } from './testing.ts'

openOptOutTests()

describe('keywords', () => {
  it('are the defaults until an account adds its own, and a campaign’s precede its account’s', async () => {
    const campaignId = newId()
    await database.sql`insert into campaigns (account_id, id, name, key)
      values (${account.accountId}, ${campaignId}, 'Sale', 'sale')`
    expect((await call('GET', '/opt-outs/keywords')).body).toMatchObject({
      own: {},
      on_suspicion: 'flag',
      campaign: null,
    })
    const replies = { stop: 'Bye from {{account_name}}', help: null }
    await call('PUT', '/opt-outs/keywords', { stop_keywords: ['STOP', 'Genug'], replies })
    expect(await call('PUT', '/opt-outs/keywords?campaign=sale', { stop_keywords: ['stop', 'CANCEL'] })).toMatchObject({
      status: 200,
      body: { stop_keywords: ['stop', 'CANCEL'], replies: { stop: replies.stop, help: null } },
    })
    await test.send({ campaignId, theirNumber: person })
    await say('genug')
    expect(await test.count('opt_outs', 'account_id = $1', [account.accountId])).toBe(0)
    await say('Cancel')
    expect(await test.count('opt_outs', 'account_id = $1', [account.accountId])).toBe(1)
    await say('genug', '15551230002')
    expect(await test.count('opt_outs', 'account_id = $1', [account.accountId])).toBe(2)
    await say('help', '15551230003')
    const rows = await database.sql<{ body: string }>`select body from messages
      where account_id = ${account.accountId} and is_confirmation`
    expect(rows.map(({ body }) => body)).toEqual([
      expect.stringMatching(/^Bye from /),
      expect.stringMatching(/^Bye from /),
    ])
    expect((await call('PUT', '/opt-outs/keywords', {})).body).toMatchObject({ own: {} })
  })

  it('show what would apply without the own ones, and who set it', async () => {
    const campaignId = newId()
    await database.sql`insert into campaigns (account_id, id, name, key)
      values (${account.accountId}, ${campaignId}, 'Sale', 'sale')`
    const none = (await call('GET', '/opt-outs/keywords')).body
    const { stop_keywords, start_keywords, help_keywords, replies, on_suspicion } = none
    const every = { stop: 'defaults', start: 'defaults', help: 'defaults' }
    const from = {
      stop_keywords: 'defaults',
      start_keywords: 'defaults',
      help_keywords: 'defaults',
      replies: every,
      on_suspicion: 'defaults',
    }
    const defaults = { stop_keywords, start_keywords, help_keywords, replies, on_suspicion, from }
    expect(none['inherited']).toEqual(defaults)
    const said = { help_keywords: ['INFO'], replies: { help: null } }
    expect((await call('PUT', '/opt-outs/keywords', said)).body).toMatchObject({
      help_keywords: ['INFO'],
      inherited: defaults,
    })
    const own = { help_keywords: ['HILFE'], on_suspicion: 'ignore' }
    expect((await call('PUT', '/opt-outs/keywords?campaign=sale', own)).body).toMatchObject({
      ...own,
      own,
      inherited: {
        ...defaults,
        help_keywords: ['INFO'],
        replies: { ...(replies as object), help: null },
        from: { ...from, help_keywords: 'account', replies: { ...every, help: 'account' } },
      },
    })
  })

  it('keep STOP, and have one meaning each', async () => {
    expect(errorsOf(await call('PUT', '/opt-outs/keywords', { stop_keywords: ['GENUG'] }))).toEqual([
      '#/stop_keywords invalid_value',
    ])
    expect(errorsOf(await call('PUT', '/opt-outs/keywords', { start_keywords: ['YES', 'Stop!'] }))).toEqual([
      '#/start_keywords/1 invalid_value',
    ])
    expect(errorsOf(await call('PUT', '/opt-outs/keywords', { help_keywords: ['?!'] }))).toEqual([
      '#/help_keywords/0 invalid_value',
    ])
    const wrong = { stop_keywords: ['GENUG'], replies: { foo: 'x' } }
    expect(errorsOf(await call('PUT', '/opt-outs/keywords', wrong))).toEqual([
      '#/replies/foo unknown_field',
      '#/stop_keywords invalid_value',
    ])
    expect((await call('PUT', '/opt-outs/keywords?campaign=nope', {})).status).toBe(404)
  })
})

describe('a reply that may mean STOP', () => {
  it('opts nobody out, is reported, and waits for a decision', async () => {
    await test.subscribe('contact.opt_out_suspected')
    await say('do not stop')
    await say('no more texts pls', '15551230002')
    const list = dataOf(await call('GET', '/opt-outs/suspected'))
    expect(list).toMatchObject([
      { number: '15551230002', text: 'no more texts pls' },
      { number: person, text: 'do not stop' },
    ])
    // A key of the account that may read neither texts nor contacts.
    const reader = await createTestAccount(database.db, { scopes: ['messages:read'] })
    await database.sql`update api_keys set account_id = ${account.accountId} where id = ${reader.keyId}`
    const hidden = await call('GET', '/opt-outs/suspected', undefined, reader.headers)
    expect(dataOf(hidden)).toMatchObject([{ text: null }, { text: null }])
    expect(hidden.text).not.toContain(person)
    expect(
      await test.count('events', `account_id = $1 and type = 'contact.opt_out_suspected'`, [account.accountId]),
    ).toBe(2)
    expect(dataOf(await call('POST', '/opt-outs/check', { numbers: [person] }))).toMatchObject([{ opted_out: false }])
    const [second, first] = list.map(({ message }) => String(message))
    const { headers } = await createTestAccount(database.db)
    expect((await call('POST', `/opt-outs/suspected/${first}`, { action: 'dismiss' }, headers)).status).toBe(404)
    expect((await call('POST', `/opt-outs/suspected/${first}`, { action: 'opt_out' })).status).toBe(204)
    expect((await call('POST', `/opt-outs/suspected/${second}`, { action: 'dismiss' })).status).toBe(204)
    expect((await call('POST', `/opt-outs/suspected/${second}`, { action: 'dismiss' })).status).toBe(404)
    expect(dataOf(await call('GET', '/opt-outs/suspected'))).toEqual([])
    expect((await call('GET', `/opt-outs/${person}`)).body).toMatchObject({ source: 'review', message: first })
  })

  it('is settled by a STOP of the same person', async () => {
    const { accountId } = await createTestAccount(database.db)
    await database.sql`insert into opt_out_suspicions (account_id, message_id, number)
      values (${accountId}, ${newId()}, ${person})`
    await say('do not stop')
    await say('stop')
    expect(dataOf(await call('GET', '/opt-outs/suspected'))).toEqual([])
    expect(await test.count('opt_out_suspicions', 'account_id = $1', [accountId])).toBe(1)
  })

  it('is not recorded for a person who is out, and whose number was forgotten', async () => {
    await add(person)
    await call('POST', `/opt-outs/${person}/forget`)
    await database.sql`update opt_outs set created_at = now() - interval '1 hour'`
    await forgetNumbers(database.db)
    await say('do not stop')
    expect(dataOf(await call('GET', '/opt-outs/suspected'))).toEqual([])
  })

  it('does what the account has set', async () => {
    await call('PUT', '/opt-outs/keywords', { on_suspicion: 'opt_out' })
    await say('do not stop')
    expect((await call('GET', `/opt-outs/${person}`)).status).toBe(200)
    await call('PUT', '/opt-outs/keywords', { on_suspicion: 'ignore' })
    await say('do not stop', '15551230002')
    expect(dataOf(await call('GET', '/opt-outs/suspected'))).toEqual([])
  })
})
