import { cutSegments, ESME, formatAbsoluteTime } from '@heliogram/smpp'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { findAdmission } from './admission.ts'
import { isWhole, listLate } from './gather.ts'
import { PendingReceipts } from './pending.ts'
import { submitGathered } from './submit.ts'
import { openServerTest, untilDelivered } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openServerTest(db)

it('a message whose node died gets its receipts once, if two others take it and it ends between them', async () => {
  const credential = await test.credential()
  const client = await test.bind(credential)
  const [first = {}] = cutSegments('Long '.repeat(60), { mode: 'udh8', reference: 7 })
  await client.submit({ ...first, registered_delivery: 1 })
  await test.sql`update smpp_gatherings
    set received_at = now() - interval '61 seconds', parts = parts || jsonb_build_object('2', parts -> '1')`
  const [late] = await listLate(test, 1)
  const gathering = late?.open()
  const admission = await findAdmission(test.db, test.accountId, credential.id)
  if (!gathering || !admission || !isWhole(gathering)) throw new Error('nothing was gathered')
  const context = { db: test.db, acceptor: test.acceptor, pending: new PendingReceipts(test.db) }
  await submitGathered(context, admission, gathering, null)
  const rows = await test.sql<{ id: string }>`select id from messages`
  await test.end(rows[0]?.id ?? '')
  await untilDelivered(client, 2)
  await submitGathered(context, admission, gathering, null)
  expect(await test.count('smpp_submits', 'true')).toBe(0)
  expect(await test.count('smpp_deliveries', 'tries = 0')).toBe(0)
  expect(rows).toHaveLength(1)
  client.session.destroy()
})

it('parts keep the tables they were written with, and the times of the first of them', async () => {
  const client = await test.bind(await test.credential())
  const at = new Date(Date.now() + 3_600_000)
  const times = {
    schedule_delivery_time: formatAbsoluteTime(at),
    validity_period: formatAbsoluteTime(new Date(at.getTime() + 60_000)),
  }
  // Turkish: by the locking shift table, and by the single shift table.
  const [first, second] = [
    Buffer.from([8, 0, 3, 9, 2, 1, 0x25, 1, 1, 0x0c]),
    Buffer.from([8, 0, 3, 9, 2, 2, 0x24, 1, 1, 0x1b, 0x69]),
  ]
  for (const fields of [{ short_message: second }, { short_message: first, ...times }])
    expect(await client.submit({ esm_class: 0x40, ...fields })).toMatchObject({ status: ESME.ROK })
  const rows = await test.sql<{
    body: string
    status: string
    sendAt: Date
    expiresAt: Date
  }>`select body, status, send_at as "sendAt", expires_at as "expiresAt"
    from messages order by id desc limit 1`
  const [row] = rows
  expect(row).toMatchObject({ body: 'ğı', status: 'scheduled' })
  expect(Math.abs(Number(row?.sendAt) - at.getTime())).toBeLessThan(100)
  expect(Number(row?.expiresAt) - Number(row?.sendAt)).toBe(60_000)
  client.session.destroy()
})
