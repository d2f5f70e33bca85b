/** Accounts with one of everything, alike except names and ids. */
import { createTestAccount, createTestUser, type TestAccount } from '../server/accounts/testing.ts'
import { newId, parseId, showId, type IdPrefix } from '../server/ground/base/ids.ts'
import { conversationIdOf } from '../server/message/conversation-id.ts'
import { storeReply } from '../server/inbound/reply.ts'
import type { World } from './tenancy-world.ts'

export type Things = Record<string, string>

export interface Tenant extends TestAccount {
  things: Things
}

/** All texts contain `mark`; people's numbers begin with `numbers`. */
export async function createTenant(world: World, mark: string, numbers: string): Promise<Tenant> {
  const { app, db, ledger } = world
  const account = await createTestAccount(db)
  const { accountId, keyId, headers } = account
  await db.query(`update accounts set name = $2 where id = $1`, [accountId, `${mark} account`])
  let made = 0
  const number = (n: number): string => `${numbers}${n}`

  const call = async (method: 'POST' | 'PUT' | 'GET', url: string, payload?: object | string): Promise<Things> => {
    const answer = await app.inject({
      method,
      url,
      headers: {
        ...headers,
        // The same for both: a key belongs to its account.
        ...(method === 'POST' && { 'idempotency-key': `everybody:${made++}` }),
        ...(payload !== undefined && { 'content-type': typeof payload === 'string' ? 'text/csv' : 'application/json' }),
      },
      ...(payload !== undefined && { payload }),
    })
    if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.body}`)
    return answer.body === '' ? {} : answer.json<Things>()
  }
  const make = async (url: string, payload: object | string): Promise<string> =>
    (await call('POST', url, payload))['id'] ?? ''
  const insert = async (table: string, prefix: IdPrefix, fields: object): Promise<string> => {
    const row = { account_id: accountId, id: newId(), ...fields }
    const names = Object.keys(row)
    await db.query(
      `insert into ${table} (${names.join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`,
      Object.values(row),
    )
    return showId(prefix, row.id)
  }

  const carrier = showId('car', ledger.carrierId)
  const link = showId('lnk', ledger.linkId)
  const sender = await make('/v1/senders', { number: number(1), carrier, country: 'US', default: true })
  const webhook = await call('POST', '/v1/webhooks', {
    url: `http://127.0.0.1:9/${mark}`,
    events: ['message.canceled'],
    description: `${mark} webhook`,
  })
  await ledger.subscriptions.refresh()
  const campaignKey = `${mark}-key`
  const campaign = await make('/v1/campaigns', { name: `${mark} campaign`, key: campaignKey })
  const at = `/v1/campaigns/${campaign}`
  const contact = await make(`${at}/contacts`, { phone_number: number(2), first_name: `${mark} contact` })
  const templateName = `${mark}-template`
  const template = await make('/v1/templates', { name: templateName, body: `${mark} template` })
  const send_at = new Date(Date.now() + 86_400_000).toISOString()
  const text = { message: `${mark} text https://example.com/${mark}`, send_at, shorten_urls: true }
  const message = await make('/v1/messages/send', { to: number(2), campaign, metadata: { note: mark }, ...text })
  const canceled = await make('/v1/messages', { to: number(3), campaign, ...text })
  await call('POST', `/v1/messages/${canceled}/cancel`)
  const context = { ...ledger.context, wake: () => {} }
  for (const said of [`${mark} reply`, 'no more texts'])
    await storeReply(context, {
      linkId: ledger.linkId,
      source: number(2),
      destination: number(1),
      text: said,
      isPartial: false,
    })
  const events = await call('GET', '/v1/events')
  const event = (events['data'] as unknown as Things[])[0]?.['id'] ?? ''
  const suspected = await call('GET', '/v1/opt-outs/suspected')
  const reply = (suspected['data'] as unknown as Things[])[0]?.['message'] ?? ''
  await db.query(
    `insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, status_code, response_head, duration_ms)
     values ($1, $2, $3, $4, 1, 'ok', 200, $5, 1)`,
    [accountId, newId(), parseId('whk', webhook['id'] ?? ''), parseId('evt', event), `${mark} response`],
  )
  await insert('alerts', 'alr', { type: 'sender.degraded', subject: number(1), opened_at: new Date() })
  await call('POST', '/v1/opt-outs', { number: number(4), reason: `${mark} reason` })
  await call('POST', '/v1/consent', { number: number(2), status: 'opted_in', text: `${mark} consent` })
  await call('PUT', '/v1/opt-outs/keywords', { replies: { help: `${mark} help` } })
  const csv = `phone_number,first_name\n${number(5)},${mark} imported\n`
  const imported = await make(`${at}/contacts/import?default_country=US`, csv)
  await db.query(
    `insert into import_errors (account_id, import_id, line, code, value, detail) values ($1, $2, 2, 'invalid_phone_number', $3, $3)`,
    [accountId, parseId('imp', imported), `${mark} wrong`],
  )
  const pool = await make('/v1/sender-pools', { name: `${mark} pool`, senders: [{ sender }] })
  const credential = await call('POST', '/v1/smpp-credentials', { name: `${mark} credential` })
  const twilioCredential = await call('POST', '/v1/twilio-credentials', { name: `${mark} old program` })
  const madeKey = await call('POST', '/v1/api-keys', { name: `${mark} key` })
  const route = await make('/v1/routes', {
    name: `${mark} route`,
    match: { account: showId('acc', accountId), campaign },
    carriers: [{ carrier }],
  })
  const erasure = await make('/v1/erasures', { number: number(9), reason: `${mark} erasure` })
  const member = await createTestUser(db, accountId, { role: 'developer' })
  const invited = await call('POST', '/v1/users/invitations', { email: `${mark}@example.com`, role: 'viewer' })
  const subaccount = await make('/v1/accounts', { name: `${mark} below` })
  const guard = await insert('guards', 'grd', {
    kind: 'velocity',
    key: number(1).slice(0, -4),
    action: 'block',
    limit_at: 1,
    since: new Date(),
    starts_at: new Date(),
    ends_at: new Date(Date.now() + 3_600_000),
  })
  const unapproved = (name: string): Promise<string> => insertUnapproved(insert, call, `${mark} ${name}`)
  const broadcast = await make(`${at}/send`, { message: `${mark} broadcast`, send_at })

  return {
    ...account,
    things: {
      account: showId('acc', accountId),
      key: madeKey['id'] ?? '',
      ownKey: showId('key', keyId),
      keySecret: madeKey['secret'] ?? '',
      carrier,
      link,
      sender,
      senderNumber: number(1),
      webhook: webhook['id'] ?? '',
      webhookSecret: webhook['secret'] ?? '',
      campaign,
      campaignKey,
      contact,
      contactNumber: number(2),
      template,
      templateName,
      message,
      reply,
      event,
      replay: await make(`/v1/webhooks/${webhook['id'] ?? ''}/replay`, { since: new Date().toISOString() }),
      optedOut: number(4),
      import: imported,
      pool,
      credential: credential['id'] ?? '',
      twilioCredential: twilioCredential['id'] ?? '',
      password: credential['password'] ?? '',
      route,
      broadcast,
      guard,
      unapproved: await unapproved('one'),
      unapprovedToo: await unapproved('two'),
      unwithdrawn: await unapproved('three'),
      erasure,
      idle: await make('/v1/campaigns', { name: `${mark} idle`, key: `${mark}-idle` }),
      idleKey: `${mark}-idle`,
      user: showId('usr', account.userId),
      member: showId('usr', member.userId),
      invitation: invited['id'] ?? '',
      invitationCode: invited['code'] ?? '',
      subaccount,
      conversation: showId('cnv', conversationIdOf(accountId, number(1), number(2))),
    },
  }
}

/** A broadcast by another user that needs approval, in its own campaign. */
async function insertUnapproved(
  insert: (table: string, prefix: IdPrefix, fields: object) => Promise<string>,
  call: (method: 'POST', url: string, payload: object) => Promise<Things>,
  name: string,
): Promise<string> {
  const { id = '' } = await call('POST', '/v1/campaigns', { name })
  return insert('broadcasts', 'brc', {
    campaign_id: parseId('cmp', id),
    status: 'awaiting_approval',
    body: { texts: { body: name, language: 'en', languages: {} } },
    is_test: false,
    send_at: new Date(Date.now() + 86_400_000),
    timezone: 'UTC',
    ordered_by: 'usr_somebody',
  })
}
