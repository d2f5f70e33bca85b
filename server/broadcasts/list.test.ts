import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { openCampaignTest } from '../campaigns/testing.ts'

const { db } = await createTestDatabase()
const test = await openCampaignTest(db)

it('shows the broadcasts of all campaigns, newest first, those of one, and those in one status, page by page', async () => {
  const [first, second, third] = [await order(), await order(), await order()]
  await test.call('POST', `/v1/broadcasts/${second.id}/withdraw`, {})
  expect((await list('/v1/broadcasts')).ids).toEqual([third.id, second.id, first.id])
  expect((await list(`/v1/campaigns/${second.campaign}/broadcasts`)).ids).toEqual([second.id])
  expect((await list(`/v1/campaigns/${second.campaign}/broadcasts?status=scheduled`)).ids).toEqual([])
  expect((await list('/v1/broadcasts?status=withdrawn')).ids).toEqual([second.id])

  const newest = await list('/v1/broadcasts?status=scheduled&limit=1')
  expect(newest.ids).toEqual([third.id])
  expect((await list(`/v1/broadcasts?status=scheduled&limit=1&cursor=${newest.next}`)).ids).toEqual([first.id])
  expect(await test.call('GET', `/v1/broadcasts?limit=1&cursor=${newest.next}`)).toMatchObject({
    status: 422,
    body: { code: 'invalid_cursor' },
  })
  expect(await test.call('GET', '/v1/broadcasts?status=gone')).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '?status' }] },
  })
})

/** Orders a broadcast of a new campaign for tomorrow. */
async function order(): Promise<{ id: string; campaign: string }> {
  const campaign = await test.newCampaign()
  await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number: '15551001000' })
  const input = { message: 'Hello', send_at: new Date(Date.now() + 86_400_000).toISOString() }
  const headers = { 'idempotency-key': newId() }
  const { status, body } = await test.call('POST', `/v1/campaigns/${campaign}/send`, input, undefined, headers)
  if (status !== 202) throw new Error(JSON.stringify(body))
  return { id: String(body['id']), campaign }
}

async function list(path: string): Promise<{ ids: string[]; next: string | null }> {
  const { status, body } = await test.call('GET', path)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { ids: (body['data'] as { id: string }[]).map(({ id }) => id), next: body['next_cursor'] as string | null }
}
