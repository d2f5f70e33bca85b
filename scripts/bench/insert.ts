/**
 * The rival of accepting: a good plain server, Fastify and pg, that validates, inserts one row per request and responds 202. Prepared statement,
 * a message's columns; no queue, no events, no group commit. Without a database URL it stores nothing, which shows the cost of HTTP alone.
 */
import Fastify from 'fastify'
import { Pool } from 'pg'
import { newId } from '../../server/ground/base/ids.ts'
import { answerParent } from './worker.ts'

/** The rival's table, with a message's columns and only a primary key. */
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

/** Takes account, id, recipient, sender, text, characters, expiry and the time of acceptance. */
const insert = `
  insert into naive_messages (account_id, id, direction, type, status, recipient, sender, body, encoding, characters,
    segments, metadata, tags, expires_at, created_at, updated_at)
  values ($1, $2, 'outbound', 'transactional', 'queued', $3, $4, $5, 'GSM-7', $6, 1, '{}', '{}', $7, $8, $8)`

// 5 to 40 perform the same with a cheap fsync; at a millisecond, more of them share each flush.
const connectionsMax = 40

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
    input.databaseUrl === undefined ? undefined : new Pool({ connectionString: input.databaseUrl, max: connectionsMax })
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
