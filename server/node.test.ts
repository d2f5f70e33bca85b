import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from './db/db.ts'
import { createTestDatabase, type TestDatabase } from './db/testing.ts'
import { settleIntents } from './messages/settle.ts'
import { openLedgerTest, until, type LedgerTest } from './messages/testing.ts'
import { Node } from './node.ts'

let database: TestDatabase
let test: LedgerTest
let nodes: Node[] = []

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.db.query('truncate accounts, carriers, nodes, messages, intents, submissions cascade')
  test = await openLedgerTest(database.db)
})
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

interface Started {
  node: Node
  settled: string[]
  fenced: () => boolean
}

async function start(isAlone = false): Promise<Started> {
  const settled: string[] = []
  let isFenced = false
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const node: Node = new Node({
    db: test.db,
    log,
    isAlone,
    settle: async (id) => {
      settled.push(id)
      await settleIntents(test.db, test.ledger, id)
    },
    onFenced: () => (isFenced = true),
  })
  nodes.push(node)
  await node.start()
  return { node, settled, fenced: () => isFenced }
}

/** The node of the ledger's test, which does not beat by itself, was last heard of so long ago. */
const silence = (seconds: number): Promise<unknown> =>
  test.db.query(`update heartbeats set seen_at = now() - make_interval(secs => $2) where node_id = $1`, [
    test.nodeId,
    seconds,
  ])

const isFenced = async (id: string): Promise<boolean> =>
  (await test.count('nodes', 'id = $1 and fenced_at is not null', [id])) === 1

describe('a node', () => {
  it('is fresh while it beats, and fenced when it says goodbye', async () => {
    const { node } = await start()
    expect([node.isFresh, await isFenced(node.id)]).toEqual([true, false])
    nodes = []
    await node.close()
    expect(await isFenced(node.id)).toBe(true)
  })

  it('is not fresh before it has started', () => {
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const node = new Node({ db: test.db, log, isAlone: false, settle: async () => {}, onFenced: () => {} })
    if (performance.now() > 7500) expect(node.isFresh).toBe(false)
  })

  it('fences one that was silent for long, and settles what it left', async () => {
    const left = await test.lease()
    await silence(16)
    const { settled } = await start()
    expect([await isFenced(test.nodeId), settled]).toEqual([true, [test.nodeId]])
    expect((await test.message(left.id)).status).toBe('unconfirmed')
  })

  it('leaves one alone that was silent for a moment', async () => {
    const left = await test.lease()
    await silence(10)
    const { settled } = await start()
    expect([await isFenced(test.nodeId), settled]).toEqual([false, []])
    expect((await test.message(left.id)).status).toBe('sending')
  })

  it('that is alone waits for nobody', async () => {
    const left = await test.lease()
    await start(true)
    expect(await isFenced(test.nodeId)).toBe(true)
    expect((await test.message(left.id)).status).toBe('unconfirmed')
  })

  it('settles also what a node left that said goodbye', async () => {
    const left = await test.lease()
    await test.db.query(`update nodes set fenced_at = now() where id = $1`, [test.nodeId])
    await start()
    expect((await test.message(left.id)).status).toBe('unconfirmed')
  })

  it('notices that it was fenced', async () => {
    const { node, fenced } = await start()
    await test.db.query(`update nodes set fenced_at = now() where id = $1`, [node.id])
    await until('it noticed', fenced)
  })

  it('notices that its row is gone', async () => {
    const { node, fenced } = await start()
    await test.db.query(`delete from nodes where id = $1`, [node.id])
    await until('it noticed', fenced)
  })

  it('waits with the fence for a claim that runs, so that nothing is claimed afterwards', async () => {
    let isStarted = false
    let starting: Promise<unknown> = Promise.resolve()
    await inTransaction(test.db, async (tx) => {
      await tx.query(`select id from nodes where id = $1 and fenced_at is null for share`, [test.nodeId])
      await silence(60)
      starting = start().then(() => (isStarted = true))
      await until('the fence waits', async () => {
        const waiting = `datname = current_database() and wait_event_type = 'Lock' and query like '%update nodes%'`
        return (await test.count('pg_stat_activity', waiting)) === 1
      })
      expect([isStarted, await isFenced(test.nodeId)]).toEqual([false, false])
    })
    await starting
    expect(await isFenced(test.nodeId)).toBe(true)
    expect((await test.acceptor.accept(test.draft())).kind).toBe('accepted')
    expect(await test.count('intents', 'true')).toBe(0)
  })

  it('forgets nodes that are over for a day', async () => {
    await test.db.query(`update nodes set fenced_at = now() - interval '25 hours' where id = $1`, [test.nodeId])
    await start()
    expect(await test.count('nodes', 'id = $1', [test.nodeId])).toBe(0)
  })
})
