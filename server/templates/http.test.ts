import { describe, expect, it } from 'vitest'
import { createTestAccount, errorsOf, type Answer } from '../accounts/testing.ts'
import { messageRoutes } from '../messages/http.ts'
import { templateRoutes } from './http.ts'
import { ledgerWorld } from '../messages/testing.ts'

const { db, sql, account, other: stranger, call } = await ledgerWorld([messageRoutes, templateRoutes])

let names = 0

describe('/v1/templates', () => {
  it('creates a template and shows it by its id and its name, with its fields', async () => {
    const { status, body, headers } = await call('POST', '/v1/templates', {
      name: 'order-shipped',
      body: 'Hi {{ first_name | default: "there" }}, {{ order }} is on its way.',
      languages: { 'de-at': 'Servus {{ first_name }}, {{ order }} ist unterwegs.' },
    })
    expect(status).toBe(201)
    expect(headers['location']).toBe(`/v1/templates/${String(body['id'])}`)
    expect(body).toMatchObject({
      object: 'template',
      language: 'en',
      languages: { 'de-AT': 'Servus {{ first_name }}, {{ order }} ist unterwegs.' },
      variables: [
        { name: 'first_name', required: true },
        { name: 'order', required: true },
      ],
    })
    for (const one of [body['id'], 'order-shipped'])
      expect((await call('GET', `/v1/templates/${String(one)}`)).body).toEqual(body)
  })

  it('reports all faults at once, with their places', async () => {
    const { status, body } = await call('POST', '/v1/templates', {
      name: 'Wrong',
      body: 'Hi {{ name',
      language: 'en',
      languages: { EN: 'x', 'not a tag': 'x', it: ' \u00a0', fr: '{{ a | nope }} }}' },
    })
    expect(status).toBe(422)
    expect(errorsOf(body)).toEqual([
      '#/body invalid_template',
      '#/languages/EN invalid_value',
      '#/languages/fr invalid_template',
      '#/languages/fr invalid_template',
      '#/languages/it too_short',
      '#/languages/not a tag invalid_value',
      '#/name invalid_format',
    ])
    expect(body['errors']).toContainEqual(
      expect.objectContaining({ detail: expect.stringMatching(/^at position 3 opens a tag/) as unknown }),
    )
    expect((await call('POST', '/v1/templates', { name: 'tpl_x', body: 'x' })).status).toBe(422)
  })

  it('refuses a name that is taken, with its owner', async () => {
    const first = await create({ name: 'taken' })
    const { status, body } = await call('POST', '/v1/templates', { name: 'taken', body: 'x' })
    expect([status, body['code'], body['existing_id']]).toEqual([409, 'key_taken', first['id']])
    const other = await create()
    expect((await call('PATCH', `/v1/templates/${String(other['id'])}`, { name: 'taken' })).body['code']).toBe(
      'key_taken',
    )
    // Names are unique per account.
    await create({ name: 'taken' }, stranger)
    await create({ name: 'theirs' }, stranger)
    expect((await call('PATCH', `/v1/templates/${String(other['id'])}`, { name: 'theirs' })).status).toBe(200)
  })

  it('changes only given fields, and checks them with the others', async () => {
    const { id } = await create({ languages: { de: 'Hallo {{ order }}' } })
    const { status, body } = await call('PATCH', `/v1/templates/${String(id)}`, { body: 'Bye {{ name }}' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ body: 'Bye {{ name }}', languages: { de: 'Hallo {{ order }}' } })
    const clash = await call('PATCH', `/v1/templates/${String(id)}`, { language: 'DE' })
    expect(errorsOf(clash.body)).toEqual(['#/languages/de invalid_value'])
    expect((await call('PATCH', `/v1/templates/${String(id)}`, {})).status).toBe(422)
  })

  it('deletes once', async () => {
    const { id } = await create({ name: 'gone' })
    expect((await call('DELETE', '/v1/templates/gone')).status).toBe(204)
    for (const one of ['gone', String(id)]) {
      expect((await call('DELETE', `/v1/templates/${one}`)).status).toBe(404)
      expect((await call('GET', `/v1/templates/${one}`)).status).toBe(404)
    }
  })

  it('lists templates by words in their names, language or time', async () => {
    const who = await createTestAccount(db)
    for (const [name, languages] of [
      ['order-shipped', { 'de-AT': 'Ja' }],
      ['order_late', { fr: 'Oui' }],
      ['welcome', {}],
    ] as const)
      await create({ name, languages }, who)
    const list = async (query: string): Promise<unknown> => {
      const { body } = await call('GET', `/v1/templates?${query}`, undefined, who.headers)
      return body['errors'] ? errorsOf(body) : (body['data'] as Body[]).map(({ name }) => name)
    }
    expect(await list('name=ORDER')).toEqual(['order_late', 'order-shipped'])
    expect(await list('name=order+ship')).toEqual(['order-shipped'])
    expect(await list('name=r_l')).toEqual(['order_late'])
    expect(await list('language=de')).toEqual(['order-shipped'])
    expect(await list('language=de-at')).toEqual(['order-shipped'])
    expect(await list('language=en')).toEqual(['welcome', 'order_late', 'order-shipped'])
    expect(await list('created_after=2020-01-01&name=wel')).toEqual(['welcome'])
    expect(await list('created_before=2020-01-01')).toEqual([])
    expect(await list('language=!&created_before=soon&names=x')).toEqual([
      '?created_before invalid_format',
      '?language invalid_value',
      '?names unknown_field',
    ])
  })
})

describe('a send by template', () => {
  it('stores the rendered text, counted and encoded like a plain one', async () => {
    const { id, name } = await create()
    const { status, body } = await send({ template: name, variables: { order: 1042 } })
    expect(status).toBe(202)
    expect(body).toMatchObject({ message: 'Hi there, 1042!', encoding: 'GSM-7', segments: 1, characters: 15 })
    const other = await send({ template: id, variables: { first_name: 'Łukasz', order: '{{ x }}' } })
    expect(other.body).toMatchObject({ message: 'Hi Łukasz, {{ x }}!', encoding: 'UCS-2' })
    const rows = await sql<{ body: string }>`select body from messages where body = 'Hi Łukasz, {{ x }}!'`
    expect(rows).toHaveLength(1)
  })

  it('uses the text of the language, of its parent, or the default', async () => {
    const { name } = await create({ body: 'Hi', languages: { de: 'Hallo', 'pt-BR': 'Oi' } })
    for (const [language, text] of [
      ['de', 'Hallo'],
      ['de-AT', 'Hallo'],
      ['DE-ch-1996', 'Hallo'],
      ['pt-BR', 'Oi'],
      ['pt', 'Hi'],
      ['fr', 'Hi'],
    ] as const)
      expect((await send({ template: name, language })).body['message'], language).toBe(text)
    expect(errorsOf((await send({ template: name, language: '!' })).body)).toEqual(['#/language invalid_value'])
  })

  it('reports missing and unknown variables with all other faults', async () => {
    const { name } = await create({ body: '{{ a }} {{ b }} {{ c | default: "" }}' })
    const { status, body } = await send({ to: 'x', template: name, variables: { a: null, 'd/e': 'x', c: 'y' } })
    expect(status).toBe(422)
    expect(errorsOf(body)).toEqual([
      '#/to invalid_phone_number',
      '#/variables/a missing_variable',
      '#/variables/b missing_variable',
      '#/variables/d~1e unknown_field',
    ])
  })

  it('distinguishes an invalid date from a missing one', async () => {
    const { name } = await create({ body: '{{ a | date: "%H:%M" }} {{ b | date: "%d" }}' })
    const { body } = await send({ to: '15551230001', template: name, variables: { a: '2026-11-20' } })
    expect(body['errors']).toEqual([
      {
        pointer: '#/variables/a',
        code: 'missing_variable',
        detail: 'must be an RFC 3339 date, with a time if the template shows one',
      },
      { pointer: '#/variables/b', code: 'missing_variable', detail: 'is required by the template' },
    ])
  })

  it('refuses a missing template, and another account’s', async () => {
    const { id } = await create({}, stranger)
    for (const template of ['nope', 'tpl_nope', id])
      expect(errorsOf((await send({ template })).body)).toEqual(['#/template template_not_found'])
  })

  it('has either a text or a template, and values only with a template', async () => {
    const { name } = await create({ body: 'x' })
    expect(errorsOf((await send({})).body)).toEqual(['#/message required'])
    expect(errorsOf((await send({ message: 'x', template: name })).body)).toEqual(['#/template invalid_value'])
    expect(errorsOf((await send({ message: 'x', variables: {}, language: 'en' })).body)).toEqual([
      '#/language unknown_field',
      '#/variables unknown_field',
    ])
  })

  it('refuses a text that no message can have', async () => {
    const { name } = await create({ body: '{{ a }}{{ a }}' })
    const answer = async (fields: Body): Promise<string[]> => errorsOf((await send({ template: name, ...fields })).body)
    expect(await answer({ variables: { a: '' } })).toEqual(['#/template too_short'])
    expect(await answer({ variables: { a: 'x'.repeat(801) } })).toEqual(['#/template too_long'])
    expect(await answer({ variables: { a: 'Ł' }, encoding: 'gsm7' })).toEqual(['#/template not_encodable'])
    expect(await answer({ variables: { a: 'x'.repeat(1601) } })).toEqual(['#/variables/a too_long'])
  })

  it('gets its first response when it is repeated, though the template has changed or is deleted', async () => {
    const { name } = await create({ body: 'One {{ a }}' })
    const again = (value = 'x'): Promise<Answer> =>
      send({ template: name, variables: { a: value } }, { 'idempotency-key': `replay-${String(name)}` })
    const first = await again()
    await call('PATCH', `/v1/templates/${String(name)}`, { body: 'Two {{ b }}' })
    expect((await again()).body['id']).toBe(first.body['id'])
    await call('DELETE', `/v1/templates/${String(name)}`)
    const last = await again()
    expect([last.status, last.headers['idempotency-replayed']]).toEqual([202, 'true'])
    expect(last.body).toMatchObject({ id: first.body['id'], message: 'One x' })
    expect((await again('y')).body['code']).toBe('idempotency_key_reused')
  })

  it('works in batches, each with its own values', async () => {
    const { name } = await create()
    const { status, body } = await call(
      'POST',
      '/v1/messages/batch',
      {
        messages: [
          { to: '15551230001', template: name, variables: { order: '1' } },
          { to: '15551230002', message: 'plain' },
          { to: '15551230003', template: name },
          { to: '15551230004', template: 'nope' },
          { to: '15551230005', template: 7 },
        ],
      },
      { 'idempotency-key': 'template-batch' },
    )
    expect(status).toBe(202)
    const results = body['results'] as { status: number; message?: Body; error?: Body }[]
    expect(results.map((one) => one.message?.['message'] ?? errorsOf(one.error ?? {}))).toEqual([
      'Hi there, 1!',
      'plain',
      ['#/variables/order missing_variable'],
      ['#/template template_not_found'],
      ['#/template invalid_type'],
    ])
  })
})

type Body = Record<string, unknown>

async function create(fields: Body = {}, who = account): Promise<Body> {
  const { status, body } = await call(
    'POST',
    '/v1/templates',
    { name: `t${names++}`, body: 'Hi {{ first_name | default: "there" }}, {{ order }}!', ...fields },
    who.headers,
  )
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

const send = (fields: Body, headers: Record<string, string> = {}): Promise<Answer> =>
  call('POST', '/v1/messages/send', { to: '15551230001', ...fields }, headers)
