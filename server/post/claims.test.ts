/** Claims for many endpoints at once: bounded reads, and no endpoint is left out. */
import { expect, test } from 'vitest'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { recordEvents } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import { Claims } from './claims.ts'
import { createLane, type PostLane } from './lane.ts'
import { findDueEndpoints } from './outbox.ts'
import { insertTestAccount, nobody } from '../webhooks/testing.ts'

const { db } = await createTestDatabase()

test('four thousand events of 200 endpoints arrive in parts, some of each, until all are there', async () => {
  await ensurePartitions(db, { info() {}, warn() {}, error() {} })
  const accountId = await insertTestAccount(db)
  const [endpoints, eventsOfEach] = [200, 20]
  for (let n = 0; n < eventsOfEach; n++) {
    const events = Array.from({ length: endpoints }, (_, i) => ({
      accountId,
      type: 'message.delivered' as const,
      messageId: newId(),
      data: { message: {} },
      callbackUrl: `https://host-${i}.example/events`,
    }))
    await recordEvents(db, events, nobody)
  }
  const lanes = new Map<string, PostLane>()
  const taken: string[][] = []
  const claims = new Claims({
    db,
    nodeId: newId(),
    peek: (id) => lanes.get(id),
    roomFor: () => 100,
    laneOf: (posting) => {
      const lane = lanes.get(posting.endpointId) ?? createLane(posting, 8)
      lanes.set(posting.endpointId, lane)
      return lane
    },
    take: (postings) => {
      taken.push(postings.map((posting) => posting.endpointId))
      for (const id of lanes.keys()) if (lanes.get(id)?.hasBacklog) claims.note([id])
    },
    drop: () => {},
    inBackground: () => {},
  })
  const due = await findDueEndpoints(db)
  expect(due).toHaveLength(endpoints)
  claims.note(due)
  await claims.run()

  const sizes = taken.map((ids) => ids.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500)
  expect(sizes.reduce((sum, size) => sum + size)).toBe(endpoints * eventsOfEach)
  const [first = []] = taken
  const counts = [...Map.groupBy(first, (id) => id).values()].map((ids) => ids.length)
  expect(Math.max(...counts)).toBeLessThanOrEqual(8)
})
