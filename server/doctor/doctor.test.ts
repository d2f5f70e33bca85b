import { ESME, responseIdKey, type IdForm } from '@heliogram/smpp'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { openPool } from '../ground/db/db.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { doctorRoutes } from './http.ts'
import { diagnose, keysUnder, listDoctored, styleOf } from './doctor.ts'
import { receiptRoutes } from './receipts-http.ts'
import type { ReceiveContext } from '../inbound/context.ts'
import { deliverTo, linkOf, receivingOf } from '../inbound/testing.ts'
import { followIdForms } from './rekey.ts'

let operator: TestAccount
let context: ReceiveContext

const { db, sql, connection } = await createTestDatabase()
const app = await buildTestApp(db, (one) => {
  doctorRoutes(one, { db, vault: testVault })
  receiptRoutes(one, { db })
})
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  operator = await createTestAccount(db)
  context = receivingOf(test)
})

describe('ids that are hexadecimal in responses and decimal in receipts', () => {
  it('leave their messages sent; the doctor names the setting, and changing it fixes past and future messages', async () => {
    const numbers = Array.from({ length: 40 }, (_, i) => 700_443_244 + i * 7)
    const ids: string[] = []
    for (const n of numbers) ids.push(await submit(hexOf(n)))
    for (const n of numbers) await receipt(String(n))
    expect(new Set(await Promise.all(ids.map(statusOf)))).toEqual(new Set(['sent']))

    const sick = await doctor()
    expect(sick).toMatchObject({ message_id_form: 'raw', unmatched: 40, forgotten: 0, examined: 40, settled: 0 })
    expect(wouldMatch(sick)).toMatchObject({ raw: 0, 'hex-to-dec': 0, 'dec-to-hex': 40 })
    expect(sick['advice']).toBe(
      '40 of 40 receipts without a message would match with decimal→hex: set message_id_form to dec-to-hex. ' +
        'Past and future ones will then match.',
    )
    expect(sick['fix']).toEqual({
      method: 'PATCH',
      path: `/v1/carriers/${showId('car', test.carrierId)}`,
      body: { settings: { message_id_form: 'dec-to-hex' } },
    })

    await setForm('dec-to-hex')
    await followIdForms(test.context)
    expect(new Set(await Promise.all(ids.map(statusOf)))).toEqual(new Set(['delivered']))
    for (const id of ids) expect(await test.eventsOf(id)).toEqual(['message.delivered'])
    expect(await doctor()).toMatchObject({ unmatched: 0, fix: null, rematch: { state: 'watching', matched: 40 } })

    const next = await submit(hexOf(800_000_001), 'dec-to-hex')
    await receipt('800000001', 'dec-to-hex')
    expect(await statusOf(next)).toBe('delivered')
    await receipt(String(numbers[0]), 'dec-to-hex')
    expect(await test.eventsOf(ids[0] ?? '')).toEqual(['message.delivered'])
  })

  it('are also matched if they came on the old session while the link was rebound', async () => {
    await setForm('dec-to-hex')
    await followIdForms(test.context, [0])
    const id = await submit('00ABCDEF')
    await receipt(String(0xabcdef))
    await followIdForms(test.context, [0])
    expect(await statusOf(id)).toBe('sent')
    await call('POST', 'doctor/rematch')
    expect((await doctor())['rematch']).toMatchObject({ state: 'due' })
    await followIdForms(test.context, [0])
    expect(await statusOf(id)).toBe('delivered')
    expect((await doctor())['rematch']).toMatchObject({ state: 'done', rekeyed: 1, matched: 1 })
  })
})

describe('a change of the form', () => {
  it('is reversible: keys keep their original spelling', async () => {
    const id = await submit('00A1')
    for (const form of ['dec-to-hex', 'hex-to-dec', 'raw'] as const) {
      await setForm(form)
      await followIdForms(test.context, [0], { ids: 1, receipts: 1 })
      const rows = await sql`select carrier_message_id as key, raw_id as raw from carrier_ids`
      expect(rows).toEqual([form === 'dec-to-hex' ? { key: 'a1', raw: '00A1' } : { key: '00A1', raw: null }])
    }
    await receipt('00A1')
    expect(await statusOf(id)).toBe('delivered')
  })

  it('back to raw loses no submit made meanwhile, on either way through the ledger', async () => {
    await setForm('hex')
    await followIdForms(test.context, [0])
    const ids = [await submit('00A1', 'hex')]
    await test.subscribe('message.sent')
    ids.push(await submit('00A2', 'hex'))
    for (const id of ids) expect((await test.message(id)).providerMessageId).toMatch(/^00A[12]$/)
    await receipt('A3', 'hex')
    await setForm('raw')
    await followIdForms(test.context, [0])
    const rows = await sql`select carrier_message_id as key, raw_id as raw from carrier_ids order by 1`
    expect(rows).toEqual([
      { key: '00A1', raw: null },
      { key: '00A2', raw: null },
    ])
    await receipt('00A1')
    await receipt('00A2')
    expect(await Promise.all(ids.map(statusOf))).toEqual(['delivered', 'delivered'])
  })

  it('applies the first of two contradictory receipts, and reports it once', async () => {
    const id = await submit('ff')
    await receipt('255', 'raw', 'UNDELIV', '2601010001')
    await receipt('255', 'raw', 'DELIVRD', '2601010002')
    await setForm('dec-to-hex')
    await followIdForms(test.context)
    expect(await statusOf(id)).toBe('undelivered')
    expect(await test.eventsOf(id)).toEqual(['message.failed'])
    expect(await test.count('receipts', 'message_id is null')).toBe(0)
  })

  it('is done once by two processes', async () => {
    const ids: string[] = []
    for (let n = 1; n <= 30; n++) ids.push(await submit(hexOf(n * 1000)))
    for (let n = 1; n <= 30; n++) await receipt(String(n * 1000))
    await setForm('dec-to-hex')
    const run = (): Promise<void> => followIdForms(test.context, [0], { ids: 7, receipts: 4 })
    await Promise.all([run(), run(), run()])
    for (const id of ids) expect(await test.eventsOf(id)).toEqual(['message.delivered'])
  })

  it('resumes where a process died', async () => {
    const id = await submit('ff')
    await receipt('255')
    await setForm('dec-to-hex')
    await followIdForms({
      ...test.context,
      outbox: {
        nodeId: null,
        offer: () => {
          throw new Error('died')
        },
      },
    }).catch(() => {})
    await sql`update link_id_forms set leased_until = now() - interval '1 second'`
    await followIdForms(test.context)
    expect([await statusOf(id), await test.eventsOf(id)]).toEqual(['delivered', ['message.delivered']])
  })
})

describe('the doctor', () => {
  it('recognizes the other direction, leading zeros and capitals', async () => {
    await submit('0000700443')
    await receipt('000ab01b')
    expect(wouldMatch(await doctor())).toMatchObject({ raw: 0, 'hex-to-dec': 1, 'dec-to-hex': 0 })
    await submit('0ABCDEF0')
    await receipt(String(0xabcdef0))
    expect(wouldMatch(await doctor())).toMatchObject({ raw: 0, 'hex-to-dec': 1, 'dec-to-hex': 1 })
  })

  it.each([
    [
      'dec',
      '700443',
      '0000700443',
      /^1 of 1 receipts without a message would match with decimal ids read as numbers: set/,
    ],
    ['dec', '0000700443', '700443', /with decimal ids read as numbers: set message_id_form to dec\./],
    ['hex', '29bfea6c', '29BFEA6C', /with hexadecimal ids read as numbers: set message_id_form to hex\./],
    ['hex', '0x00AB01', 'ab01', /with hexadecimal ids read as numbers/],
    ['hex', '0000ab01', '0XAB01', /with hexadecimal ids read as numbers/],
  ] as const)('suggests %s if %s returns as %s, and then it matches', async (form, response, written, advice) => {
    const id = await submit(response)
    await receipt(written)
    const sick = await doctor()
    expect(sick['advice']).toMatch(advice)
    expect(sick['fix']).toMatchObject({ body: { settings: { message_id_form: form } } })
    await setForm(form)
    await followIdForms(test.context)
    expect(await statusOf(id)).toBe('delivered')
    const next = await submit(`${response}1`, form)
    await receipt(`${written}1`, form)
    expect(await statusOf(next)).toBe('delivered')
  })

  it('ignores a chance hit on a message that has its receipt', async () => {
    const id = await submit('10')
    await receipt('10')
    expect(await statusOf(id)).toBe('delivered')
    await receipt('16')
    const link = await doctor()
    expect(link).toMatchObject({ unmatched: 1, fix: null, sampled: 1, settled: 1 })
    expect(link['advice']).toMatch(/^None of 1 receipts matches in any form/)
  })

  it('ignores a message of another link, and one that was sent later', async () => {
    await submit('ff')
    await submit('fe')
    await sql`update carrier_ids set at = now() + interval '2 hours' where carrier_message_id = 'ff'`
    const other = await openLedgerTest(db)
    await sql`update carrier_ids set link_id = ${other.linkId} where carrier_message_id = 'fe'`
    for (const id of ['255', '254']) await receipt(id)
    expect(await doctor()).toMatchObject({ unmatched: 2, sampled: 1, fix: null })
    await sql`update receipts set link_id = ${other.linkId} where raw_id = '254'`
    expect(await doctor()).toMatchObject({ unmatched: 1, examined: 1, fix: null })
  })

  it('warns if most messages have their receipts as things are', async () => {
    for (let n = 1; n <= 5; n++) {
      await submit(`x${n}`)
      await receipt(`x${n}`)
    }
    await submit('ff')
    await receipt('255')
    expect((await doctor())['advice']).toMatch(/But most messages have their receipt in the current form/)
  })

  it('looks back as far as requested', async () => {
    await receipt('255')
    await sql`update receipts set received_at = now() - interval '3 hours'`
    expect(await doctor(2)).toMatchObject({ unmatched: 0, examined: 0 })
    expect(await doctor(4)).toMatchObject({ unmatched: 1, examined: 1 })
  })

  it('is for the operator', async () => {
    const user = await createTestAccount(db, { scopes: ['messages:read', 'settings:read'] })
    for (const path of ['doctor', 'receipts?unmatched=true'])
      expect((await call('GET', path, user.headers)).status).toBe(403)
    expect((await call('POST', 'doctor/rematch', user.headers)).status).toBe(403)
    test.carrierId = newId()
    for (const path of ['doctor', 'receipts?unmatched=true']) expect((await call('GET', path)).status).toBe(404)
  })

  it('finds every key that a form can give an id', () => {
    const forms = ['raw', 'hex-to-dec', 'dec-to-hex', 'hex', 'dec'] as const
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 70n }),
        fc.constantFrom('hex-to-dec', 'dec-to-hex', 'hex', 'dec'),
        fc.constantFrom(...forms),
        fc.integer({ min: 0, max: 24 }),
        fc.boolean(),
        fc.boolean(),
        (n, form, current, width, isUpper, isPrefixed) => {
          const [decimal, hex] = [n.toString(10), n.toString(16)]
          const isHex = form === 'dec-to-hex' || form === 'hex'
          const own = isHex ? hex : decimal
          const other = form === 'dec-to-hex' || form === 'dec' ? decimal : hex
          const padded = own.padStart(width, '0')
          const cased = isUpper ? padded.toUpperCase() : padded
          const response = isPrefixed && isHex ? `0x${cased}` : cased
          expect(keysUnder(other, form, current, styleOf([response]))).toContain(responseIdKey(response, current))
        },
      ),
    )
  })
})

describe('receipts without a message', () => {
  it('are listed newest first, page by page, with their possible matches', async () => {
    const id = await submit('ff')
    await receipt('255', 'raw', 'UNDELIV')
    for (let n = 1; n <= 4; n++) await receipt(`9999${n}x`)
    const first = await call('GET', 'receipts?unmatched=true&limit=3')
    const second = await call('GET', `receipts?unmatched=true&limit=3&cursor=${String(first.body['next_cursor'])}`)
    const all = [first, second].flatMap(({ body }) => body['data'] as Body[])
    expect(all.map((one) => one['raw_id'])).toEqual(['99994x', '99993x', '99992x', '99991x', '255'])
    expect([first.body['has_more'], second.body['has_more']]).toEqual([true, false])
    expect(all.at(-1)).toMatchObject({
      object: 'receipt',
      state: 'undeliverable',
      stat: 'UNDELIV',
      err: '000',
      candidates: [{ form: 'dec-to-hex', carrier_message_id: 'ff', message: showId('msg', id) }],
    })
    expect(parseId('lnk', String(all[0]?.['link']))).toBe(test.linkId)
  })

  it('are only paged with their own cursors', async () => {
    for (const cursor of ['x', Buffer.from('["a"]').toString('base64url'), Buffer.from('null').toString('base64url')])
      expect(await call('GET', `receipts?unmatched=true&cursor=${cursor}`)).toMatchObject({
        status: 422,
        body: { code: 'invalid_cursor' },
      })
    expect((await call('GET', 'receipts?unmatched=false')).status).toBe(422)
    expect((await call('GET', 'receipts')).status).toBe(422)
  })
})

describe('many receipts', () => {
  it('are examined up to a limit, and matched in pieces', async () => {
    const [ids, receipts] = [30_000, 12_000]
    await sql`with m as (
        insert into messages (account_id, id, status, their_number, encoding, characters, segments, sent_at)
        select ${test.accountId}, (to_char(n, 'FM00000000') || '-0000-7000-8000-000000000000')::uuid, 'sent', '15551230001', 'GSM-7', 5, 1, now()
        from generate_series(1, ${ids}) n
        returning id
      )
      insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments)
      select ${test.linkId}, to_hex(5000000 + left(id::text, 8)::int), ${test.accountId}, id, 1, 1 from m`
    await sql`insert into receipts (link_id, raw_id, state, match_id, stat)
      select ${test.linkId}, n::text, 'delivered', n::text, 'DELIVRD'
      from generate_series(5000001, 5000000 + ${receipts}) n`
    const [link] = await listDoctored(db, test.carrierId)
    if (!link) throw new Error('no link')
    const { unmatched, forms } = await diagnose(db, link, 24)
    const of = forms.find(({ form }) => form === 'dec-to-hex')
    expect([unmatched, of?.wouldMatch]).toEqual([receipts, 10_000])
    await setForm('dec-to-hex')
    const pipeline = openPool(connection, { name: 'pipeline', max: 2, settings: pipelineSettings })
    await followIdForms({ ...test.context, db: pipeline })
    await pipeline.end()
    expect(await test.count('receipts', 'message_id is null')).toBe(0)
    expect(await test.count('events', `type = 'message.delivered'`)).toBe(receipts)
  })
})

type Body = Record<string, unknown>

async function call(
  method: 'GET' | 'POST',
  path: string,
  headers = operator.headers,
): Promise<{ status: number; body: Body }> {
  const url = `/v1/carriers/${showId('car', test.carrierId)}/${path}`
  const answer = await app.inject({ method, url, headers })
  return { status: answer.statusCode, body: answer.json<Body>() }
}

/** The only link on the doctor's page. */
async function doctor(hours = 24): Promise<Body> {
  const { body } = await call('GET', `doctor?hours=${hours}`)
  return (body['links'] as Body[])[0] ?? {}
}

const wouldMatch = (link: Body): Record<string, unknown> =>
  Object.fromEntries((link['forms'] as Body[]).map((form) => [String(form['form']), form['would_match']]))

/** Sends a message that the carrier accepts under this id, stored in this form. */
async function submit(responseId: string, form: IdForm = 'raw'): Promise<string> {
  const handover = await test.lease()
  const key = responseIdKey(responseId, form)
  await test.answer(handover, { carrierMessageId: key, rawMessageId: key === responseId ? null : responseId })
  return handover.id
}

/** Receives a receipt as a link with this form does. */
async function receipt(id: string, form: IdForm = 'raw', stat = 'DELIVRD', doneDate = '2601010000'): Promise<void> {
  const short_message = Buffer.from(`id:${id} submit date:2601010000 done date:${doneDate} stat:${stat} err:000 text:`)
  const status = await deliverTo(context, linkOf(test, { message_id_form: form }), { esm_class: 4, short_message })
  expect(status).toBe(ESME.ROK)
}

const setForm = (form: IdForm): Promise<unknown> =>
  sql`update carriers set settings = settings || jsonb_build_object('message_id_form', ${form}::text)`

const statusOf = async (id: string): Promise<string> => (await test.message(id)).status
const hexOf = (n: number): string => n.toString(16)
