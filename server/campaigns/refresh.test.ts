import { expect, test } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import { openCampaignTest } from './testing.ts'

const { db } = await createTestDatabase()
const campaigns = await openCampaignTest(db)

test('a refresh of campaigns returns those created or changed since, even if they were committed late', async () => {
  const ids = [await campaigns.newCampaign(), await campaigns.newCampaign(), await campaigns.newCampaign()]
  const cursor = await settle('/v1/campaigns')
  const late = newId()
  const commit = await begin(`insert into campaigns (account_id, id, name) values ($1, $2, 'Late')`, [
    campaigns.account.accountId,
    late,
  ])
  const newer = await campaigns.newCampaign()
  await campaigns.call('PATCH', `/v1/campaigns/${ids[0]}`, { name: 'Changed' })
  const second = await follow('/v1/campaigns', cursor)
  expect(new Set(second.ids)).toEqual(new Set([ids[0], newer]))
  await commit()
  const third = await follow('/v1/campaigns', second.cursor)
  expect(uuidOf(third.ids, 'cmp')).toContain(late)
  await settle('/v1/campaigns')
})

test('a refresh of contacts returns those created or changed since, with the list’s filters', async () => {
  const campaign = await campaigns.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts`
  const add = async (n: number, tags: string[] = []): Promise<string> =>
    String((await campaigns.call('POST', url, { phone_number: `1555123${1000 + n}`, tags })).body['id'])
  const ids = [await add(1), await add(2, ['vip']), await add(3), await add(4)]
  const cursor = await settle(url)
  const tagged = await get(`${url}?tag=vip&limit=1`)
  const late = newId()
  const commit = await begin(
    `insert into contacts (account_id, campaign_id, id, phone_number) values ($1, $2, $3, '15551239999')`,
    [campaigns.account.accountId, parseId('cmp', campaign), late],
  )
  const newer = await add(5)
  await campaigns.call('PATCH', `${url}/${ids[0]}`, { first_name: 'Ada', tags: ['vip'] })
  await campaigns.call('PATCH', `${url}/${ids[2]}`, { first_name: 'Eve' })
  const second = await follow(url, cursor)
  expect(new Set(second.ids)).toEqual(new Set([ids[0], ids[2], newer]))
  await commit()
  const third = await follow(url, second.cursor)
  expect(uuidOf(third.ids, 'ctc')).toContain(late)
  const page = await get(`${url}?tag=vip&limit=10&cursor=${tagged.refresh_cursor}`)
  expect(page.data.map(({ id }) => id)).toContain(ids[0])
  expect(page.data.map(({ id }) => id)).not.toContain(ids[2])
})

interface Page {
  data: { id: string }[]
  has_more: boolean
  refresh_cursor: string
}
const get = async (url: string): Promise<Page> => (await campaigns.call('GET', url)).body as unknown as Page

/** Follows refresh cursors, two rows per page. */
async function follow(url: string, cursor: string): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = []
  for (;;) {
    const page = await get(`${url}?limit=2&cursor=${cursor}`)
    ids.push(...page.data.map(({ id }) => id))
    cursor = page.refresh_cursor
    if (!page.has_more) return { ids: ids.toSorted(), cursor }
  }
}

/** A refresh cursor with nothing to show: transactions of other databases on the server make rows of their time appear again. */
async function settle(url: string): Promise<string> {
  let { refresh_cursor: cursor } = await get(url)
  await until('nothing comes again', async () => {
    const news = await follow(url, cursor)
    cursor = news.cursor
    return news.ids.length === 0
  })
  return cursor
}

/** Writes a row in an open transaction; returns its commit. */
async function begin(text: string, values: unknown[]): Promise<() => Promise<void>> {
  const client = await db.connect()
  await client.query('begin')
  await client.query(text, values)
  return async () => {
    await client.query('commit')
    client.release()
  }
}

const uuidOf = (ids: readonly string[], prefix: 'cmp' | 'ctc'): (string | null)[] =>
  ids.map((id) => parseId(prefix, id))
