import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { buildTestApp } from '../../accounts/testing.ts'
import { openPool } from '../db/db.ts'
import { createTestDatabase } from '../db/testing.ts'
import { openLog } from '../../program/log.ts'

const { db } = await createTestDatabase()

it('refusals while the database is down are logged once a minute, with their number', async () => {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>)
      done()
    },
  })
  // No server listens there.
  const away = openPool({ host: '127.0.0.1', port: 1 }, { name: 'away', max: 2 })
  const register = (one: Parameters<Parameters<typeof buildTestApp>[1]>[0]): void =>
    void one.get('/away', { config: { scope: null } }, () => away.query('select 1'))
  const app = await buildTestApp(db, register, { log: openLog('info', sink) })
  const ask = async (): Promise<number> => (await app.inject('/away')).statusCode
  expect(await ask()).toBe(503)
  expect(await Promise.all(Array.from({ length: 30 }, ask))).toEqual(Array(30).fill(503))
  await app.close()
  await away.end()
  const refused = lines.filter(({ msg }) => msg === 'request refused')
  // The first at once, the others at the end.
  expect(refused).toHaveLength(2)
  expect(refused.reduce((sum, { times }) => sum + Number(times), 0)).toBe(31)
  expect(refused[1]).toMatchObject({ request_id: expect.stringMatching(/^req_/), err: { code: 'ECONNREFUSED' } })
})
