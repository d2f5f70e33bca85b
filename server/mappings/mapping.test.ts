import { ESME } from '@heliogram/smpp'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { world, createTestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { emptyTables } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { insertTestCarrier } from '../messages/testing.ts'
import { messageErrors, reasonOfReceipt, reasonOfStatus } from '../message/taxonomy.ts'
import { mappingRoutes } from './http.ts'
import { presetNames, rowsOfPreset } from './presets.ts'
import { canonicalErr, compileMap, StatusMaps } from './mapping.ts'
import type { Mapping } from './store.ts'

let carrierId: string

const { db, sql, account: operator, app } = await world([mappingRoutes])
const statusMaps = new StatusMaps(db)
beforeEach(async () => {
  await emptyTables(db, 'carriers, idempotency_keys')
  carrierId = newId()
  await inTransaction(db, (tx) => insertTestCarrier(tx, carrierId))
  await statusMaps.refresh()
})

describe('a compiled table', () => {
  it('tries the exact row first, then the number, then the word, then the defaults', () => {
    const map = compileMap([
      receiptRow('UNDELIV', '11', 'handset_busy'),
      receiptRow('', '11', 'handset_memory_full'),
      receiptRow('UNDELIV', '', 'fraud_suspected'),
    ])
    const codeOf = (stat: string, err: string | null): string =>
      map.ofReceipt({ state: 'undeliverable', stat, err }).code
    expect(codeOf('undeliv', '011')).toBe('handset_busy')
    expect(codeOf('FAILED', '0011')).toBe('handset_memory_full')
    expect(codeOf('UNDELIV', '13')).toBe('fraud_suspected')
    expect(codeOf('UNDELIV', null)).toBe('fraud_suspected')
    expect(codeOf('FAILED', '13')).toBe('recipient_blocked')
  })

  it('without rows is the defaults', () => {
    const map = compileMap([])
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 0xffffffff }),
        fc.constantFrom('expired', 'undeliverable', 'rejected', 'deleted'),
        fc.option(fc.string({ maxLength: 12 })),
        fc.option(fc.string({ maxLength: 6 })),
        (status, state, stat, err) => {
          expect(map.ofStatus(status)).toEqual(reasonOfStatus(status))
          expect(map.ofReceipt({ state, stat, err })).toEqual(reasonOfReceipt({ state, stat, err }))
        },
      ),
    )
  })

  it('reads numbers of a receipt as numbers', () => {
    expect(['000', '011', ' 11 ', '21b', '0x45', null].map(canonicalErr)).toEqual(['0', '11', '11', '21B', '0X45', ''])
  })
})

describe('a carrier’s table', () => {
  const mappings = [
    { kind: 'submit', code: '0x458', error: 'throttled' },
    {
      kind: 'submit',
      code: 'ESME_RSYSERR',
      error: 'content_filtered',
      handling: 'permanent',
      note: 'As they told us.',
    },
    { kind: 'receipt', stat: 'undeliv', code: '099', error: 'spend_limit_reached' },
  ]

  it('is written, shown in canonical form with its advice, and queried', async () => {
    const linkId = (await sql<{ id: string }>`select id from links`)[0]?.id ?? ''
    const { status, rows } = await call('PUT', { mappings })
    expect(status).toBe(200)
    expect(rows.map(({ kind, stat, code, error, handling }) => [kind, stat, code, error, handling])).toEqual([
      ['submit', null, '0x00000008', 'content_filtered', 'permanent'],
      ['submit', null, '0x00000458', 'throttled', 'throttling'],
      ['receipt', 'UNDELIV', '99', 'spend_limit_reached', 'passing'],
    ])
    expect(rows[0]).toMatchObject({
      title: messageErrors.content_filtered.title,
      advice: messageErrors.content_filtered.advice,
      note: 'As they told us.',
      default: false,
    })
    expect((await call('GET')).rows).toEqual(rows)
    expect(statusMaps.ofStatus(linkId, 0x458)).toEqual({ code: 'throttled', handling: 'throttling' })
    expect(statusMaps.ofStatus(linkId, ESME.RSYSERR)).toEqual({ code: 'content_filtered', handling: 'permanent' })
    expect(statusMaps.ofReceipt(linkId, { state: 'undeliverable', stat: 'UNDELIV', err: '99' }).code).toBe(
      'spend_limit_reached',
    )
    expect(statusMaps.ofStatus(newId(), 0x458).code).toBe('carrier_unknown')
  })

  it('is replaced by PUT, extended by PATCH, and deleted by row or as a whole', async () => {
    await call('PUT', { mappings })
    await call('PATCH', { mappings: [{ kind: 'submit', code: '0x00000458', error: 'queue_full' }] })
    expect((await call('GET')).rows.map((row) => row['error'])).toEqual([
      'content_filtered',
      'queue_full',
      'spend_limit_reached',
    ])
    expect((await call('DELETE', undefined, { query: '?kind=receipt&stat=UNDELIV&code=99' })).status).toBe(204)
    expect((await call('DELETE', undefined, { query: '?kind=receipt&stat=UNDELIV&code=99' })).status).toBe(404)
    expect((await call('GET')).rows.length).toBe(2)
    await call('PUT', { mappings: [mappings[2]] })
    expect((await call('GET')).rows.map((row) => row['kind'])).toEqual(['receipt'])
    expect((await call('DELETE')).status).toBe(204)
    expect((await call('GET')).rows).toEqual([])
    expect(statusMaps.of(carrierId).ofStatus(0x458).code).toBe('carrier_unknown')
  })

  it('is imported from CSV', async () => {
    const { status, rows } = await csv(
      'PUT',
      '\ufeffKind;Stat;Code;Error;Handling;Note\r\nsubmit;;0x0000000b;invalid_destination;;"Wrong; or short"\r\n\r\nreceipt;REJECTD;;fraud_suspected;permanent;\r\n',
    )
    expect(status).toBe(200)
    expect(rows.map(({ stat, code, error, note }) => [stat, code, error, note])).toEqual([
      [null, '0x0000000b', 'invalid_destination', 'Wrong; or short'],
      ['REJECTD', null, 'fraud_suspected', null],
    ])
  })

  it('reports all faults of all rows at once, and changes nothing', async () => {
    await call('PUT', { mappings })
    const bad = await call('PUT', {
      mappings: [
        { kind: 'submit', code: '1112', error: 'throttled' },
        { kind: 'sumbit', error: 'nonsense', handling: 'never' },
        { kind: 'receipt', error: 'throttled', raw: 'x' },
        { kind: 'submit', stat: 'X', code: 'ESME_ROK', error: 'throttled' },
        'x',
        { kind: 'receipt', code: '1', error: 'throttled' },
        { kind: 'receipt', code: '001', error: 'throttled', note: 7 },
        { kind: 'receipt', code: '001', error: 'throttled' },
        { kind: 'receipt', stat: 'two words', error: 'throttled' },
      ],
    })
    expect(bad.status).toBe(422)
    expect(faultsOf(bad.body)).toEqual([
      '#/mappings/0/code invalid_format',
      '#/mappings/1/kind invalid_value',
      '#/mappings/1/error invalid_value',
      '#/mappings/1/handling invalid_value',
      '#/mappings/2/raw unknown_field',
      '#/mappings/2/code required',
      '#/mappings/3/stat invalid_value',
      '#/mappings/3/code invalid_format',
      '#/mappings/4 invalid_type',
      '#/mappings/6/note invalid_type',
      '#/mappings/7/code invalid_value',
      '#/mappings/8/stat invalid_format',
    ])
    expect((bad.body['errors'] as Body[])[0]?.['suggestion']).toBe('0x00000458')
    const badCsv = await csv('PATCH', 'kind,code,error\nsubmit,0x1,throttled\nsubmit,zzz,throttled\n')
    expect(badCsv.body['errors']).toMatchObject([
      { pointer: '#/mappings/1/code', detail: expect.stringContaining('(line 3)') as string },
    ])
    expect((await csv('PUT', 'kind,"code\nx')).status).toBe(422)
    expect((await call('PUT', {})).status).toBe(422)
    expect((await call('GET')).rows.length).toBe(3)
  })

  it('reports faults of rows and of the body together, and for a field of a wrong type only that', async () => {
    const bad = await call('PUT', {
      preset: 'nobody',
      extra: true,
      mappings: [
        { kind: 'sumbit', code: '0x458', error: 7, handling: 'never' },
        { kind: 'receipt', stat: 5, error: 'throttled', note: 'x'.repeat(501) },
        { kind: 'submit', code: 1112, error: 'throttled' },
        { kind: 7, code: '1', error: 'throttled', handling: 1 },
      ],
    })
    expect(bad.status).toBe(422)
    expect(faultsOf(bad.body).toSorted()).toEqual([
      '#/extra unknown_field',
      '#/mappings/0/error invalid_type',
      '#/mappings/0/handling invalid_value',
      '#/mappings/0/kind invalid_value',
      '#/mappings/1/note too_long',
      '#/mappings/1/stat invalid_type',
      '#/mappings/2/code invalid_type',
      '#/mappings/3/handling invalid_type',
      '#/mappings/3/kind invalid_type',
      '#/preset invalid_value',
    ])
    const alone = await call('PUT', { preset: 'nobody', mappings: 'x' })
    expect(faultsOf(alone.body).toSorted()).toEqual(['#/mappings invalid_type', '#/preset invalid_value'])
    expect(faultsOf((await call('PUT', [1])).body)).toEqual(['# invalid_type'])
  })

  it('survives any file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 60 }), async (text) => {
        const { status } = await csv('PUT', `kind,stat,code,error\n${text}`)
        expect([200, 422]).toContain(status)
      }),
      { numRuns: 60 },
    )
  })

  it('starts with an aggregator’s preset, which its own rows override', async () => {
    await call('PUT', { preset: 'vonage', mappings: [{ kind: 'receipt', code: '5', error: 'handset_busy' }] })
    const map = statusMaps.of(carrierId)
    const codeOf = (err: string): string => map.ofReceipt({ state: 'undeliverable', stat: 'UNDELIV', err }).code
    expect([codeOf('3'), codeOf('5'), codeOf('9')]).toEqual([
      'unknown_subscriber',
      'handset_busy',
      'recipient_opted_out',
    ])
    expect(
      (await call('GET')).rows.every((row) => row['code'] === '5' || String(row['note']).startsWith('https://')),
    ).toBe(true)
  })

  it('shows the built-in meanings behind its own, each with its source', async () => {
    await call('PUT', { mappings })
    const { rows } = await call('GET', undefined, { query: '?defaults=true' })
    expect(rows.filter((row) => row['default'] === false).length).toBe(3)
    expect(rows.find((row) => row['code'] === '0x00000058' && row['default'])).toMatchObject({
      error: 'throttled',
      handling: 'throttling',
      note: 'ESME_RTHROTTLED: SMPP 3.4 §5.1.3, SMPP 5.0 §4.7.6',
    })
    expect(rows.every((row) => !row['default'] || row['note'] !== null)).toBe(true)
  })

  it('accepts an HTTP carrier’s own codes', async () => {
    await sql`update carriers set kind = 'http', settings = '{"adapter": "vonage"}'`
    expect(faultsOf((await call('PUT', { preset: 'twilio' })).body)).toEqual(['#/preset invalid_value'])
    await call('PUT', {
      mappings: [
        { kind: 'submit', code: '21610', error: 'recipient_opted_out' },
        { kind: 'receipt', code: '30005', error: 'unknown_subscriber' },
      ],
    })
    const byWord = await call('DELETE', undefined, { query: '?kind=submit&stat=21610' })
    expect(faultsOf(byWord.body)).toEqual(['?code required'])
    expect(statusMaps.of(carrierId).ofCode('21610')).toEqual({ code: 'recipient_opted_out', handling: 'permanent' })
    expect(statusMaps.of(carrierId).ofCode('1')).toBeNull()
    const { rows } = await call('GET', undefined, { query: '?defaults=true' })
    const defaults = rows.filter((row) => row['default'])
    const errorsOf = (kind: string, code: string): unknown[] =>
      defaults.flatMap((row) => (row['kind'] === kind && row['code'] === code ? row['error'] : []))
    expect([errorsOf('submit', '9'), errorsOf('receipt', '9'), errorsOf('receipt', '27')]).toEqual([
      ['spend_limit_reached'],
      ['recipient_opted_out'],
      ['handset_unreachable'],
    ])
    expect(defaults.every((row) => row['note'] !== null)).toBe(true)
    expect(statusMaps.of(carrierId).ofReceipt({ state: 'undeliverable', stat: 'undelivered', err: '30005' }).code).toBe(
      'unknown_subscriber',
    )
  })

  it('reaches other processes when they read again', async () => {
    const other = new StatusMaps(db)
    await other.refresh()
    await call('PUT', { mappings })
    await other.refresh()
    expect(other.of(carrierId).ofStatus(0x458).code).toBe('throttled')
    await sql`update status_mappings set error_code = 'queue_full' where code = '0x00000458'`
    await other.refresh()
    expect(other.of(carrierId).ofStatus(0x458).code).toBe('queue_full')
    await sql`delete from status_mappings`
    await other.refresh()
    expect(other.of(carrierId).ofStatus(0x458).code).toBe('carrier_unknown')
  })

  it('is read beside a carrier whose adapter only a newer process knows', async () => {
    await sql`insert into carriers (id, name, kind, settings)
      values (${newId()}, 'newer', 'http', '{"adapter": "newer"}')`
    await call('PUT', { mappings })
    expect(statusMaps.of(carrierId).ofStatus(0x458).code).toBe('throttled')
  })

  it('is for the operator', async () => {
    const user = await createTestAccount(db, { scopes: ['settings:write', 'messages:write'] })
    for (const method of ['GET', 'DELETE'] as const)
      expect((await call(method, undefined, { headers: user.headers })).status).toBe(403)
    expect((await call('PUT', { mappings }, { headers: user.headers })).status).toBe(403)
    carrierId = newId()
    expect((await call('GET')).status).toBe(404)
    expect((await call('PUT', { mappings })).status).toBe(404)
  })
})

it('presets have each code once, and only our codes', () => {
  for (const name of presetNames) {
    const rows = rowsOfPreset(name)
    expect(new Set(rows.map((row) => row.code)).size).toBe(rows.length)
    expect(rows.every((row) => row.error in messageErrors && row.code === canonicalErr(row.code))).toBe(true)
  }
})

type Body = Record<string, unknown>
type Method = 'GET' | 'PUT' | 'PATCH' | 'DELETE'

async function call(
  method: Method,
  payload?: unknown,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Body; rows: Body[] }> {
  const url = `/v1/carriers/${showId('car', carrierId)}/mappings${query}`
  const answer = await app.inject({
    method,
    url,
    headers: { ...operator.headers, ...headers },
    ...(payload !== undefined && { payload: payload as object }),
  })
  // As the clock does within a second.
  if (method !== 'GET') await statusMaps.refresh()
  const body = answer.body === '' ? {} : answer.json<Body>()
  return { status: answer.statusCode, body, rows: (body['data'] ?? []) as Body[] }
}

const csv = (method: Method, text: string): ReturnType<typeof call> =>
  call(method, text, { headers: { 'content-type': 'text/csv' } })
const faultsOf = (body: Body): string[] =>
  ((body['errors'] ?? []) as Body[]).map((one) => `${String(one['pointer'])} ${String(one['code'])}`)

const receiptRow = (stat: string, code: string, error: Mapping['error']): Mapping => ({
  kind: 'receipt',
  stat,
  code,
  error,
  handling: 'permanent',
  note: null,
})
