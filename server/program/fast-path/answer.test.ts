import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import Fastify, { type FastifyReply } from 'fastify'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { Answer } from './answer.ts'

const name = fc.constantFrom('x-one', 'X-One', 'x-two', 'Vary', 'content-type', 'cache-control')
const value = fc.constantFrom('a', 'b; c=d', '')
const type = fc.constantFrom('application/json', 'application/problem+json', 'application/json; charset=utf-8')
// One object for all responses, like a route's guard.
const common = { 'x-one': 'common', vary: 'accept', 'cache-control': 'no-store' }

const step = fc.oneof(
  fc.tuple(name, value).map<Step>(
    ([of, to]) =>
      (reply) =>
        reply.header(of, to),
  ),
  fc.constant<Step>((reply) => reply.headers(common)),
  value.map<Step>((to) => (reply) => reply.headers({ vary: to, 'x-other': to })),
  name.map<Step>((of) => (reply) => reply.removeHeader(of)),
)

test('fields have the same effect on its response as in Fastify', async () => {
  let steps: Step[] = []
  const prepare = (reply: FastifyReply) => {
    for (const each of steps) each(reply)
    return reply.code(202)
  }
  const app = Fastify()
  app.get('/', (_, reply) => prepare(reply).send('{"é":1}'))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const answer = new Answer(
        socket,
        () => true,
        () => socket.end(),
      )
      prepare(answer as unknown as FastifyReply).send('{"é":1}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await app.close()
  })
  const ours = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const theirs = await app.listen({ host: '127.0.0.1', port: 0 })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 7 }), type, async (given, last) => {
      // Without a type Fastify would send text, but the response is JSON.
      steps = [...given, (reply) => reply.header('content-type', last)]
      expect(await ask(ours)).toEqual(await ask(theirs))
    }),
    { numRuns: 300 },
  )
})

/** The response without fields of the connection. */
async function ask(url: string): Promise<unknown> {
  const response = await fetch(url)
  const fields = [...response.headers].filter(([of]) => !['connection', 'keep-alive', 'date'].includes(of))
  return { status: response.status, fields, text: await response.text() }
}

/** A step before the response is sent. */
type Step = (reply: FastifyReply) => unknown
