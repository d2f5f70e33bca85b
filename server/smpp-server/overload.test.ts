import { ESME } from '@heliogram/smpp'
import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { Overload, probeAccepts } from '../program/door/overload.ts'
import { until } from '../../test/until.ts'
import { openServerTest } from './testing.ts'

it('a submit is refused at once while the database rejects writes: it would be stored after its client has repeated it', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.close())
  const overload = new Overload({ info: () => {}, warn: () => {}, error: () => {} })
  const test = await openServerTest(database.db, { overload })
  overload.start([probeAccepts(test.acceptor)])
  onTestFinished(() => overload.close())
  const client = await test.bind(await test.credential())
  onTestFinished(() => client.session.destroy())
  const statuses: number[] = []
  const submit = async (): Promise<void> => {
    const { status } = await client.submit({ short_message: Buffer.from('Hello') })
    statuses.push(status)
  }
  const lock = await database.db.connect()
  await lock.query('begin; lock table messages in access exclusive mode')
  const first = submit()
  await until('the process is overloaded', () => overload.refusal !== null)
  const second = submit()
  try {
    await until('the second is answered', () => statuses.length === 1)
  } finally {
    lock.release(true)
  }
  await Promise.all([first, second])
  expect(statuses).toEqual([ESME.RMSGQFUL, ESME.ROK])
  await until('it is over', () => overload.refusal === null)
  await submit()
  expect(statuses.at(-1)).toBe(ESME.ROK)
  expect(await test.count('messages', 'true')).toBe(2)
})
