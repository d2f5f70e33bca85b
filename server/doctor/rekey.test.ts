import { expect, it } from 'vitest'
import { world } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { untilBlocked } from '../ground/db/testing.ts'
import { showId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import { doctorRoutes } from './http.ts'
import { carrierRoutes } from '../carriers/http.ts'
import { followIdForms } from './rekey.ts'
import { openCarrierTest, untilBound } from '../carriers/testing.ts'

const { db, account: operator, app } = await world([carrierRoutes, doctorRoutes])

it('a carrier that writes ids in hexadecimal and then in decimal: the one setting that the doctor names settles past and future messages', async () => {
  const test = await openCarrierTest(db, { simulator: { idFormat: 'hex_decimal' } })
  const path = `/v1/carriers/${showId('car', test.carrierId)}`
  const ask = async (): Promise<Doctor['links'][number]> => {
    const answer = await app.inject({ method: 'GET', url: `${path}/doctor`, headers: operator.headers })
    const [link] = answer.json<Doctor>().links
    if (!link) throw new Error('the carrier has no link')
    return link
  }
  await untilBound(test)
  const past: string[] = []
  for (let n = 0; n < 20; n++) past.push((await test.submit({ theirNumber: `155512301${10 + n}` })).id)
  await until('all receipts have come', async () => (await ask()).unmatched === 20)
  for (const id of past) await test.reaches(id, 'sent')

  const { advice, fix } = await ask()
  expect(advice).toMatch(/^20 of 20 receipts without a message would match with decimal→hex/)
  if (!fix) throw new Error('the doctor has no fix')
  const { statusCode } = await app.inject({
    method: fix.method,
    url: fix.path,
    headers: operator.headers,
    payload: fix.body,
  })
  expect(statusCode).toBe(200)

  await followIdForms(test.context)
  for (const id of past) await test.reaches(id, 'delivered')
  await until('the link is bound with its settings', () =>
    [...test.submitter.links.values()].some(
      (link) => link.state === 'bound' && JSON.stringify(link.settings).includes('dec-to-hex'),
    ),
  )
  const next = await test.submit({ theirNumber: '15551230150' })
  await test.reaches(next.id, 'delivered')
  for (const id of [...past, next.id]) expect(await test.eventsOf(id)).toEqual(['message.delivered'])
  expect((await ask()).unmatched).toBe(0)
})

it('a rematch passes over a link that is being deleted', async () => {
  const test = await openCarrierTest(db)
  const url = `/v1/carriers/${showId('car', test.carrierId)}/doctor/rematch`
  await test.close()
  const asked = await inTransaction(db, async (tx) => {
    await tx.query('delete from links where carrier_id = $1', [test.carrierId])
    const asked = app.inject({ method: 'POST', url, headers: operator.headers }).then((answer) => answer)
    await untilBlocked(db, 1)
    return [asked]
  })
  const answer = await asked[0]
  expect([answer?.statusCode, answer?.json()]).toEqual([202, { object: 'rematch', links: 0 }])
})

interface Doctor {
  links: { unmatched: number; advice: string; fix: { method: 'PATCH'; path: string; body: object } | null }[]
}
