/** Every writing route is in the audit log, or listed here with a reason. tenancy.test.ts checks the entries. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { openWorld, type World } from './tenancy-world.ts'

const send = 'is a send'
const contacts = 'is the daily work with contacts'
const desk = 'is the daily work with conversations'

const exempt: Record<string, string> = {
  'POST /v1/messages/send': send,
  'POST /v1/messages': send,
  'POST /v1/messages/batch': send,
  'POST /v1/messages/:id/cancel': 'is of one message, whose own events tell it',
  'POST /v1/conversations/:conversation/messages': send,
  'POST /v1/conversations/:conversation/read': desk,
  'PATCH /v1/conversations/:conversation': desk,
  'POST /v1/consent': 'writes an append-only ledger of its own, with who said it',
  'POST /v1/campaigns/:campaign/contacts': contacts,
  'PATCH /v1/campaigns/:campaign/contacts/:contact': contacts,
  'DELETE /v1/campaigns/:campaign/contacts/:contact': contacts,
  'POST /v1/campaigns/:campaign/contacts/import': contacts,
  'POST /v1/imports/:import/cancel': contacts,
  'POST /v1/webhooks/:id/test': 'changes nothing: it posts an event, which is in the log of events',
  'POST /v1/events/:id/redeliver': 'changes nothing: it posts an event again',
  'POST /v1/users/me/confirm': 'changes nothing but the time until which a login is not asked again',
  'POST /v1/users/me/totp': 'changes nothing until a code confirms it, which is recorded',
  'POST /2010-04-01/Accounts/:accountSid/Messages.json': send,
  'POST /2010-04-01/Accounts/:accountSid/Messages/:sid.json': 'is of one message, whose own events tell it',
}

let database: TestDatabase
let world: World

beforeAll(async () => {
  database = await createTestDatabase()
  world = await openWorld(database)
})
afterAll(async () => {
  await world.close()
  await database.close()
})

const writing = () =>
  world.routes.filter(({ method, scope }) => !['GET', 'HEAD'].includes(method) && scope?.endsWith(':write'))

it('every route that writes adds an audit entry, or is exempt for a reason', () => {
  const silent = writing().filter(({ name, audit }) => audit === null && !(name in exempt))
  expect(silent.map(({ name }) => name)).toEqual([])
})

it('every exemption is of an existing route without an audit entry', () => {
  const needed = new Set(writing().flatMap(({ name, audit }) => (audit === null ? [name] : [])))
  expect(Object.keys(exempt).filter((name) => !needed.has(name))).toEqual([])
})

it('names are a resource and a past tense', () => {
  const names = world.routes.flatMap(({ audit }) => (audit === null ? [] : [audit]))
  expect(names.filter((name) => !/^[a-z]+(_[a-z]+)*\.[a-z_]*(ed|en|drawn|sent|set|split)$/.test(name))).toEqual([])
  expect(names.length).toBeGreaterThan(40)
})
