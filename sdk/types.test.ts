/** Compile-time tests: an expected error that does not occur fails `npm run types`. */
import { readFileSync } from 'node:fs'
import { expect, expectTypeOf, test } from 'vitest'
import {
  keyed,
  routes,
  type Client,
  type Events,
  type JsonOperation,
  type ListOperation,
  type Message,
  type OperationName,
  type OperationRequest,
  type WebhookEvent,
} from './index.ts'

interface Described {
  operationId: string
  parameters?: { $ref?: string }[]
}

test('the table has every operation of the OpenAPI document, and marks those that take a key', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, Described>>
  }
  const all = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, one]) => ({ ...one, route: `${method.toUpperCase()} ${path}` })),
  )
  expect(all.length).toBeGreaterThan(150)
  expect(routes).toEqual(Object.fromEntries(all.map(({ operationId, route }) => [operationId, route])))
  const taking = all.filter(({ parameters = [] }) => parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')))
  expect([...keyed]).toEqual(taking.map(({ operationId }) => operationId))
})

test('requests and responses have the types of their operation', () => {
  const calls = async (client: Client, undecided: string | undefined): Promise<void> => {
    expectTypeOf(
      await client.call('sendMessage', { body: { to: '12025550188', from: undecided } }),
    ).toEqualTypeOf<Message>()
    expectTypeOf(await client.call('deleteWebhook', { path: { id: 'whk_1' } })).toEqualTypeOf<undefined>()
    expectTypeOf(await client.open('exportMessages')).toEqualTypeOf<Response>()
    await client.call('listMessages')
    await client.call('listMessages', { query: { status: undecided, 'metadata[order]': '7' } }, { signal: undefined })
    await client.call('importOptOuts', { body: new Blob([]) })
    for await (const message of client.each('listMessages')) expectTypeOf(message).toEqualTypeOf<Message>()

    await client.call('sendBatch', { body: { messages: [{ to: '12025550188', from: undecided }] } })
    await client.call('importContacts', { path: { campaign: 'a' }, body: { contacts: [{ phone_number: '1' }] } })

    // @ts-expect-error There is no such operation.
    await client.call('sendMesage', { body: { to: '1' } })
    // @ts-expect-error A body is needed.
    await client.call('sendMessage')
    // @ts-expect-error `to` is missing.
    await client.call('sendMessage', { body: { message: 'Hello' } })
    // @ts-expect-error `mesage` is not a member.
    await client.call('sendMessage', { body: { to: '1', mesage: 'Hello' } })
    // @ts-expect-error `type` is one of three words.
    await client.call('sendMessage', { body: { to: '1', type: 'bulk' } })
    // @ts-expect-error Messages of a batch are those of a send.
    await client.call('sendBatch', { body: { messages: [{ to: '1', mesage: 'Hello' }] } })
    // @ts-expect-error So are contacts of an import.
    await client.call('importContacts', { path: { campaign: 'a' }, body: { contacts: [{ phone: '1' }] } })
    // @ts-expect-error The path has an id.
    await client.call('getMessage')
    // @ts-expect-error It is called `id`.
    await client.call('getMessage', { path: { message: 'msg_1' } })
    // @ts-expect-error There is no such filter.
    await client.call('listMessages', { query: { state: 'sent' } })
    // @ts-expect-error It takes no query.
    await client.call('getSettings', { query: { limit: 1 } })
    // @ts-expect-error A file is opened.
    await client.call('exportMessages')
    // @ts-expect-error It is not a list.
    for await (const one of client.each('getSettings')) expectTypeOf(one).toBeNever()
  }
  expect(calls).toBeTypeOf('function')
})

test('a function over any operation can pass it on', () => {
  const callAny = <Name extends JsonOperation>(client: Client, name: Name, request: OperationRequest<Name>) =>
    client.call(name, request, { retries: 0 })
  const openAny = <Name extends OperationName>(client: Client, name: Name, request: OperationRequest<Name>) =>
    client.open(name, request)
  const eachOf = <Name extends ListOperation>(client: Client, name: Name, request: OperationRequest<Name>) =>
    client.each(name, request)
  expectTypeOf(callAny<'sendMessage'>).returns.resolves.toEqualTypeOf<Message>()
  expectTypeOf(openAny<'exportMessages'>).returns.resolves.toEqualTypeOf<Response>()
  expectTypeOf(eachOf<'listMessages'>).returns.toEqualTypeOf<AsyncGenerator<Message, void, undefined>>()
  expect([callAny, openAny, eachOf].length).toBe(3)
})

test('the type of an event selects its fields', () => {
  const read = (event: WebhookEvent): string | null => {
    // @ts-expect-error Not every event is about a message.
    if (event.data.message === undefined) return null
    return event.type === 'message.received' ? event.data.message.message : null
  }
  expectTypeOf<Events['message.delivered']['data']['message']>().toEqualTypeOf<Message>()
  expect(read).toBeTypeOf('function')
})
