/**
 * The rival of accepting: a good plain server, Fastify and pg, that validates, inserts one row per request and responds 202. Prepared statement,
 * a message's columns; no queue, no events, no group commit. Without a database URL it stores nothing, which shows the cost of HTTP alone.
 */
import Fastify from 'fastify'
import { Pool } from 'pg'
import { newId } from '../../server/ground/base/ids.ts'
import { plainInsert, plainPoolSize, plainTable } from './plain-table.ts'
import { answerParent } from './worker.ts'

const key = 'bench'

const schema = {
  body: {
    type: 'object',
    required: ['to', 'message'],
    additionalProperties: false,
    properties: {
      to: { type: 'string', pattern: '^\\+?[1-9]\\d{6,14}$' },
      message: { type: 'string', minLength: 1, maxLength: 1600 },
    },
  },
}

type Body = { to: string; message: string }

async function listen(input: { databaseUrl: string | undefined }): Promise<number> {
  const pool =
    input.databaseUrl === undefined ? undefined : new Pool({ connectionString: input.databaseUrl, max: plainPoolSize })
  await pool?.query(plainTable)
  const account = newId()
  const server = Fastify()
  server.addHook('onRequest', async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${key}`) return reply.code(401).send({ code: 'invalid_token' })
    return undefined
  })
  server.post<{ Body: Body }>('/v1/messages/send', { schema }, async ({ body }, reply) => {
    const id = newId()
    const now = new Date()
    const expiresAt = new Date(now.getTime() + 36_000_000)
    const from = '15557654321'
    const values = [account, id, body.to, from, body.message, body.message.length, expiresAt, now]
    await pool?.query({ name: 'insert', text: plainInsert, values })
    return reply.code(202).send({
      id,
      object: 'message',
      direction: 'outbound',
      status: 'queued',
      to: body.to,
      from,
      message: body.message,
      expires_at: expiresAt,
      created_at: now,
    })
  })
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
}

answerParent({ listen })
