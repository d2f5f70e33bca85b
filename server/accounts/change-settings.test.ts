import { describe, expect, it } from 'vitest'
import { setDefaultSender } from '../senders/store.ts'
import { newId } from '../ground/base/ids.ts'
import { settingRows } from './account-settings.ts'
import { createTestAccount, testSettings, accountsWorld } from './testing.ts'

import { readFileSync } from 'node:fs'
const { db, sql, app, ask: askAs } = await accountsWorld({ settings: { ...testSettings, setDefaultSender } })
const account = await createTestAccount(db)
await sql`with c as (insert into carriers (id, name, kind, settings) values (${newId()}, 'test', 'smpp', '{}')
  returning id)
  insert into senders (account_id, id, carrier_id, number, kind, country)
  select ${account.accountId}, unnest(${[newId(), newId()]}::uuid[]), id, unnest(${['15557654321', '15557654322']}::text[]), 'long_code', 'US'
  from c`

describe('the entity tag', () => {
  it('is strong, constant while nothing changes, and gets 304 if the client has it', async () => {
    const first = await read()
    expect(first.etag).toMatch(/^"[\w-]{22}\.[\w-]{22}"$/)
    for (const tag of [first.etag, `"another", ${first.etag}`, `W/${first.etag}`, '*']) {
      const again = await read(tag)
      expect([again.status, again.text, again.etag]).toEqual([304, '', first.etag])
    }
    for (const tag of ['"another"', first.etag.slice(1, -1)]) expect((await read(tag)).status).toBe(200)
  })

  it('lets one of two changes through that started from the same settings', async () => {
    const { etag } = await read()
    const first = await change({ on_unknown: 'resend' }, etag)
    expect(first.status).toBe(200)
    expect(first.etag).toBe((await read()).etag)
    expect(first.etag).not.toBe(etag)
    const second = await change({ on_unknown: 'hold' }, etag)
    expect(second).toMatchObject({ status: 409, body: { code: 'version_conflict' } })
    expect((await read()).body).toMatchObject({ on_unknown: 'resend' })
    for (const tag of [first.etag, '*', undefined])
      expect((await change({ on_unknown: 'resend' }, tag)).status).toBe(200)
  })

  it('does not change because a counter changed meanwhile', async () => {
    const { etag } = await read()
    await sql`insert into webhooks (account_id, id, url, events, secret)
      values (${account.accountId}, ${newId()}, 'https://example.com/', '{}', '')`
    expect((await read(etag)).status).toBe(200)
    expect((await change({ account: { name: 'New name' } }, etag)).status).toBe(200)
  })
})

describe('a change', () => {
  it('sets the default sender to one of the account’s, or to none', async () => {
    expect((await change({ default_sender: '+15557654321' })).body).toMatchObject({ default_sender: '15557654321' })
    expect((await change({ default_sender: '15557654322' })).body).toMatchObject({ default_sender: '15557654322' })
    expect((await change({ default_sender: '15550000000' })).body).toMatchObject({
      errors: [{ pointer: '#/default_sender', code: 'sender_not_found' }],
    })
    expect((await read()).body).toMatchObject({ default_sender: '15557654322' })
    expect((await change({ default_sender: null })).body).toMatchObject({ default_sender: null })
  })

  it('sets the default country, and reports all its faults', async () => {
    expect((await change({ default_country: 'GB' })).body).toMatchObject({ default_country: 'GB' })
    const wrong = await change({ default_country: 'XX', default_sender: '1' })
    expect(wrong.body).toMatchObject({ errors: [{ pointer: '#/default_sender' }, { pointer: '#/default_country' }] })
    expect((await change({ default_country: null })).body).toMatchObject({ default_country: null })
    expect((await change({ api_version: 'v2' })).body).toMatchObject({ errors: [{ code: 'unknown_field' }] })
  })

  it('is in the audit log, with old and new values', async () => {
    await change({ default_country: 'DE', on_unknown: 'hold' })
    await change({ on_unknown: 'hold' })
    const rows = await sql<{ before: object; after: object }>`select before, after from audit_events
      where account_id = ${account.accountId} order by id desc limit 2`
    expect(rows).toEqual([
      { before: {}, after: {} },
      { before: { on_unknown: 'resend', default_country: null }, after: { on_unknown: 'hold', default_country: 'DE' } },
    ])
  })
})

describe('a new data key', () => {
  const rotate = async () => {
    const answer = await app.inject({ method: 'POST', url: '/v1/settings/rotate-data-key', headers: account.headers })
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() }
  }

  it('is created on request, and the settings report the progress of replacing the old one', async () => {
    const { etag, body } = await read()
    expect(body).toMatchObject({ encryption: { content: false, key: null, rotation: null } })
    expect(await rotate()).toMatchObject({ status: 200, body: { encryption: { key: { version: 1 }, rotation: null } } })
    expect((await rotate()).body).toMatchObject({
      encryption: { key: { version: 2 }, rotation: { retired_keys: 1, done_until: null } },
    })
    expect((await change({ on_unknown: 'hold' }, etag)).status).toBe(200)
    const rows = await sql<{ text: string }>`select coalesce(before::text, '') || after::text as text
      from audit_events
      where account_id = ${account.accountId} and action = 'data_key.rotated' order by id`
    expect(rows).toHaveLength(2)
    expect(rows[1]?.text).toMatch(/"version": ?2/)
  })

  it('has its default and its description in the guide', () => {
    const rows = settingRows
      .filter(({ at }) => at[0] !== 'account')
      .map(({ at, setting: { schema, fallback } }) => {
        const { description = '', anyOf = [] } = schema as { description?: string; anyOf?: { description?: string }[] }
        return `| \`${at.join('.')}\` | \`${JSON.stringify(fallback)}\` | ${description || anyOf[0]?.description} |`
      })
    const guide = readFileSync(new URL('../../docs/api/settings.md', import.meta.url), 'utf8')
    expect(guide.split('\n').filter((line) => /^\| `.*` \| `/.test(line))).toEqual(rows)
  })

  it('is refused while ten others are still being replaced', async () => {
    await sql`delete from data_keys where account_id = ${account.accountId}`
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await rotate()).status)
    expect(statuses).toEqual([...Array.from({ length: 11 }, () => 200), 429])
    expect((await read()).body).toMatchObject({ encryption: { key: { version: 11 }, rotation: { retired_keys: 10 } } })
    await sql`update data_keys set wrapped = null where account_id = ${account.accountId} and version = 1`
    expect((await rotate()).status).toBe(200)
  })
})

const ask = async (method: 'GET' | 'PATCH', payload?: object, headers: Record<string, string> = {}) => {
  const answer = await askAs(method, '/v1/settings', account, payload, headers)
  return {
    status: answer.statusCode,
    etag: String(answer.headers['etag']),
    text: answer.body,
    body: answer.body === '' ? null : answer.json<Record<string, unknown>>(),
  }
}
const read = (tag?: string) => ask('GET', undefined, tag === undefined ? {} : { 'if-none-match': tag })
const change = (payload: object, tag?: string) => ask('PATCH', payload, tag === undefined ? {} : { 'if-match': tag })
