/**
 * What accepting is compared with: a good plain server, Fastify and pg, that validates, inserts one row a request and answers 202.
 * Prepared statement, the columns that a message has; no queue, no events, no group commit. Without a database URL it stores
 * nothing: what HTTP alone costs.
 */
import Fastify from 'fastify'
import { Pool } from 'pg'
import { newId } from '../../server/ids.ts'
import { answerParent } from './worker.ts'

const key = 'bench'

const table = `
  create table if not exists naive_messages (
    account_id uuid not null,
    id uuid not null,
    direction text not null,
    type text not null,
    status text not null,
    recipient text not null,
    sender text not null,
    body text not null,
    encoding text not null,
    characters int not null,
    segments int not null,
    metadata jsonb,
    tags text[],
    expires_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (account_id, id)
  )`

const insert = `
  insert into naive_messages (account_id, id, direction, type, status, recipient, sender, body, encoding, characters,
    segments, metadata, tags, expires_at, created_at, updated_at)
  values ($1, $2, 'outbound', 'transactional', 'queued', $3, $4, $5, 'GSM-7', $6, 1, '{}', '{}', $7, $8, $8)`

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

// No difference from 5 to 40 where fsync is cheap; where it takes a millisecond, more share each flush.
const poolSize = 40

async function listen(input: { databaseUrl: string | undefined }): Promise<number> {
  const pool =
    input.databaseUrl === undefined ? undefined : new Pool({ connectionString: input.databaseUrl, max: poolSize })
  await pool?.query(table)
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
    await pool?.query({ name: 'insert', text: insert, values })
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
