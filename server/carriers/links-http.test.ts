import { beforeEach, describe, expect, it } from 'vitest'
import { world, testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { emptyTables } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { insertTestCarrier } from '../messages/testing.ts'
import { linkRoutes } from './links-http.ts'
import { findRunnable } from '../links/carrier-store.ts'

let carrierId: string

const { db, sql, account, app } = await world([linkRoutes])
beforeEach(async () => {
  await emptyTables(db, 'carriers, idempotency_keys')
  carrierId = newId()
  await inTransaction(db, (tx) => insertTestCarrier(tx, carrierId))
})

describe('links', () => {
  it('have their own settings, and otherwise their carrier’s', async () => {
    const { status, body } = await create({
      pace: 7,
      settings: { host: 'second.example.com', sessions: 4 },
      password: 'other',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      object: 'link_settings',
      carrier: showId('car', carrierId),
      enabled: true,
      pace: 7,
      settings: { host: 'second.example.com', sessions: 4 },
      has_password: true,
    })
    expect(JSON.stringify(body)).not.toContain('other')
    const [link] = await findRunnable(db, [idOf(body)])
    expect(link?.settings).toMatchObject({
      host: 'second.example.com',
      sessions: 4,
      system_id: 'heliogram',
      window: 100,
    })
    expect(link?.secrets && testVault.open(link.secrets, link.secretsOf)).toBe('other')
    const { body: list } = await call('GET', `/v1/carriers/${showId('car', carrierId)}/links`)
    expect(list.data).toHaveLength(2)
    expect(list.data[0]).toMatchObject({ pace: null, settings: {}, has_password: false })
  })

  it('change only in the given fields; null returns to the carrier’s setting', async () => {
    const { body } = await create({ pace: 7, settings: { host: 'second.example.com', sessions: 4 }, password: 'other' })
    const changed = await call('PATCH', `/v1/links/${body.id}`, {
      enabled: false,
      pace: null,
      password: null,
      settings: { host: null, window: 5 },
    })
    expect(changed).toMatchObject({
      status: 200,
      body: { enabled: false, pace: null, has_password: false, settings: { sessions: 4, window: 5 } },
    })
    const [link] = await findRunnable(db, [idOf(body)])
    expect(link?.settings).toMatchObject({ host: '127.0.0.1', window: 5 })
    expect(link?.secrets && testVault.open(link.secrets, link.secretsOf)).toBe('secret')
  })

  it.each([
    [{ pace: 0 }, '#/pace'],
    [{ pace: 1e9 }, '#/pace'],
    [{ settings: { sessions: 0 } }, '#/settings/sessions'],
    [{ settings: { sessions: 51 } }, '#/settings/sessions'],
    [{ settings: { port: 99_999 } }, '#/settings/port'],
    [{ settings: { message_id_form: 'raw' } }, '#/settings/message_id_form'],
    [{ unknown: 1 }, '#/unknown'],
  ])('are refused with %o', async (payload, pointer) => {
    const { status, body } = await create(payload)
    expect(status).toBe(422)
    expect(body.errors.map((error) => error.pointer)).toContain(pointer)
  })

  it('can be deleted, except the first', async () => {
    const { body } = await create()
    expect((await call('DELETE', `/v1/links/${body.id}`)).status).toBe(204)
    expect((await call('DELETE', `/v1/links/${body.id}`)).status).toBe(404)
    const [row] = await sql<{ id: string }>`select id from links`
    const first = await call('DELETE', `/v1/links/${showId('lnk', row?.id ?? '')}`)
    expect(first).toMatchObject({ status: 409, body: { code: 'carrier_in_use' } })
  })

  it('are not added to an unknown carrier, or to one with an HTTP API', async () => {
    expect((await call('POST', `/v1/carriers/${showId('car', newId())}/links`, {})).status).toBe(404)
    await sql`update carriers set kind = 'http'`
    expect((await create()).status).toBe(422)
  })
})

interface Body {
  id: string
  data: Body[]
  errors: { pointer: string; code: string }[]
  code: string
}

async function call(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
): Promise<{ status: number; body: Body }> {
  const answer = await app.inject({ method, url, headers: account.headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? ({} as Body) : answer.json<Body>() }
}

const create = (payload: object = {}): ReturnType<typeof call> =>
  call('POST', `/v1/carriers/${showId('car', carrierId)}/links`, payload)
const idOf = (body: Body): string => parseId('lnk', body.id) ?? ''
