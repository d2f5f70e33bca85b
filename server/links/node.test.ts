import { afterEach, describe, expect, it, vi } from 'vitest'
import { InFlight } from './stranded.ts'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { settleIntents } from '../ledger/settle.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Node } from './node.ts'

const inFlight = new InFlight()
let nodes: Node[] = []

const database = await createTestDatabase()
const test = forEachTest(database.db, openLedgerTest)
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

describe('a node', () => {
  it('is fresh while it beats, and fenced when it stops cleanly', async () => {
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
    const { settled, warnings } = await startAndFence(() => isFenced(test.nodeId))
    await until('what it left is settled', async () => (await test.message(left.id)).status === 'unconfirmed')
    expect(settled).toEqual([test.nodeId])
    expect(warnings).toMatchObject([{ node: test.nodeId }])
  })

  it('that starts as a database returns fences nobody who was waiting for it', async () => {
    const left = await test.lease()
    await silence(60)
    await start()
    expect([await isFenced(test.nodeId), (await test.message(left.id)).status]).toEqual([false, 'sending'])
  })

  it('that was silent with the others while the database was down waits for their heartbeats before it fences one', async () => {
    const left = await test.lease()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { node, settled } = await start()
      const { node: over } = await start()
      nodes = [node]
      await over.close()
      const clock = vi.spyOn(performance, 'now')
      // Settling runs behind the fences.
      const beat = async (): Promise<void> => {
        const before = settled.length
        await until(
          'it is done with it',
          async () => (await test.count('nodes', 'id = $1 and settled_at is not null', [over.id])) === 1,
        )
        await test.sql`update nodes set settled_at = null where id = ${over.id}`
        await nextBeat(node.id)
        await until('it has looked for dead ones', () => settled.length > before)
      }
      await silence(20)
      await silence(20, node.id)
      vi.advanceTimersByTime(2000)
      await until('it has looked for dead ones', () => settled.length > 0)
      expect(await isFenced(test.nodeId)).toBe(false)
      await beat()
      expect(await isFenced(test.nodeId)).toBe(false)
      const startedAt = performance.now()
      clock.mockImplementation(() => startedAt + 15_000)
      await beat()
      expect(await isFenced(test.nodeId)).toBe(true)
      await until('what it left is settled', async () => (await test.message(left.id)).status === 'unconfirmed')
    } finally {
      vi.restoreAllMocks()
      vi.useRealTimers()
    }
  })

  it('does not fence one that was silent for a moment', async () => {
    const left = await test.lease()
    const { node: other } = await start()
    nodes = []
    await other.close()
    await test.sql`update nodes set fenced_at = null where id = ${other.id}`
    await silence(20, other.id)
    await silence(10)
    const { settled } = await startAndFence(() => isFenced(other.id))
    await until('what that one left is settled', () => settled.includes(other.id))
    expect([await isFenced(test.nodeId), settled]).toEqual([false, [other.id]])
    expect((await test.message(left.id)).status).toBe('sending')
  })

  it('that is alone waits for nobody', async () => {
    const left = await test.lease()
    await start(true)
    expect(await isFenced(test.nodeId)).toBe(true)
    expect((await test.message(left.id)).status).toBe('unconfirmed')
  })

  it('that is alone waits for nobody, though the database’s clock was set back', async () => {
    const left = await test.lease()
    await silence(-86_400)
    await start(true)
    expect(await isFenced(test.nodeId)).toBe(true)
    expect((await test.message(left.id)).status).toBe('unconfirmed')
  })

  it('counts a beat from the future as from now: the clock was set back', async () => {
    const left = await test.lease()
    await silence(-86_400)
    await start()
    expect(await isFenced(test.nodeId)).toBe(false)
    expect(await test.count('heartbeats', 'node_id = $1 and seen_at <= now()', [test.nodeId])).toBe(1)
    await silence(16)
    await startAndFence(() => isFenced(test.nodeId))
    await until('what it left is settled', async () => (await test.message(left.id)).status === 'unconfirmed')
  })

  it('also settles what a cleanly stopped node left, without a warning', async () => {
    const left = await test.lease()
    await test.sql`update nodes set fenced_at = now() where id = ${test.nodeId}`
    const { settled, warnings } = await start()
    expect([settled, warnings]).toEqual([[test.nodeId], []])
    expect((await test.message(left.id)).status).toBe('unconfirmed')
  })

  it('that ends before its first beat leaves nothing unsettled, though it is older than the node', async () => {
    const { id } = await test.send()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { node } = await start()
      const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
      const [lane] = await findLanes(test.db)
      const { handovers } = await claimMessages(test.context, node.id, rooms, lane?.id ?? '', firstIdAt(0), 10, {
        directFrom: inFlight.directFrom(),
      })
      expect(handovers).toMatchObject([{ id, isDirect: true }])
      await test.sql`update nodes set fenced_at = now() where id = ${node.id}`
      await start()
      expect((await test.message(id)).status).toBe('unconfirmed')
    } finally {
      vi.useRealTimers()
    }
  })

  it('reports once that the database rejects writes, and once that it is back, and after how long', async () => {
    const { url, name } = database
    const db = openPool({ connectionString: url }, { name: 'refused', max: 2 })
    const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
      await test.sql`set default_transaction_read_only = off`
      await test.db.query(`alter database ${name} set default_transaction_read_only = ${value}`)
      await test.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'heliogram refused'`
    }
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { node, lines } = await start(false, Promise.resolve(), db)
    try {
      await setReadOnly('on')
      for (const _beat of Array(3)) vi.advanceTimersByTime(2000)
      await until('it is told', () => lines.length > 0)
      await setReadOnly('off')
      await until('it is back', () => {
        vi.advanceTimersByTime(2000)
        return lines.length > 1
      })
      await nextBeat(node.id)
      expect(lines).toEqual([
        ['the database is unavailable', { error: expect.any(String) }],
        ['the database is available again', { awaySeconds: expect.any(Number) }],
      ])
    } finally {
      vi.useRealTimers()
      nodes = []
      await node.close()
      await db.end()
    }
  })

  it('reports also a database that does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { lines } = await start()
      await inTransaction(test.db, async (tx) => {
        await tx.query('lock table heartbeats in access exclusive mode')
        vi.advanceTimersByTime(8000)
        await untilBlocked(test.db, 4, '%update heartbeats%')
        expect(lines).toEqual([])
        vi.advanceTimersByTime(4000)
        expect(lines).toEqual([['the database is unavailable', { error: 'it does not answer' }]])
      })
      await until('it is back', () => lines.length > 1)
      expect(lines.slice(1)).toEqual([['the database is available again', { awaySeconds: expect.any(Number) }]])
    } finally {
      vi.useRealTimers()
    }
  })

  it('notices that it was fenced', async () => {
    const { node, fenced } = await start()
    await test.sql`update nodes set fenced_at = now() where id = ${node.id}`
    await until('it noticed', fenced)
  })

  it('notices it once, however many beats are pending', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { node, fences } = await start()
      await inTransaction(test.db, async (tx) => {
        await tx.query('lock table heartbeats in access exclusive mode')
        vi.advanceTimersByTime(6000)
        await untilBlocked(test.db, 3, '%update heartbeats%')
        await tx.query(`update nodes set fenced_at = now() where id = $1`, [node.id])
      })
      nodes = []
      await node.close()
      expect(fences()).toBe(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('notices that its row is gone', async () => {
    const { node, fenced } = await start()
    await test.sql`delete from nodes where id = ${node.id}`
    await until('it noticed', fenced)
  })

  it('waits at the fence for a running claim, so that nothing is claimed afterwards', async () => {
    await inTransaction(test.db, async (tx) => {
      await tx.query(`select id from nodes where id = $1 and fenced_at is null for share`, [test.nodeId])
      await silence(60)
      await startAndFence(async () => {
        await untilBlocked(test.db, 1, '%update nodes%')
        return true
      })
      expect(await isFenced(test.nodeId)).toBe(false)
    })
    await until('it is fenced', () => isFenced(test.nodeId))
    expect((await test.acceptor.accept(test.draft())).kind).toBe('accepted')
    expect(await test.count('intents', 'true')).toBe(0)
  })

  it('beats while it settles what another left, settles it once, and finishes that when it closes', async () => {
    const left = await test.lease()
    const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { node, settled } = await start(false, isHeld)
      const at = performance.now()
      vi.spyOn(performance, 'now').mockImplementation(() => at + 15_000)
      await silence(16)
      await nextBeat(node.id)
      await until('it settles', () => settled.length === 1)
      vi.restoreAllMocks()
      for (let i = 0; i < 3; i++) await nextBeat(node.id)
      nodes = []
      const closing = node.close()
      letGo()
      await closing
      expect(settled).toEqual([test.nodeId])
      expect((await test.message(left.id)).status).toBe('unconfirmed')
      expect(await test.count('nodes', 'id = $1 and settled_at is not null', [test.nodeId])).toBe(1)
    } finally {
      letGo()
      vi.useRealTimers()
    }
  })

  it('beats also while its start settles', async () => {
    await test.sql`update nodes set fenced_at = now() where id = ${test.nodeId}`
    const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const starting = start(false, isHeld)
      await until(
        'it has said that it is there',
        async () => (await test.count('heartbeats', 'node_id <> $1', [test.nodeId])) === 1,
      )
      await nextBeat(nodes[0]?.id ?? '')
      letGo()
      expect((await starting).settled).toEqual([test.nodeId])
    } finally {
      letGo()
      vi.useRealTimers()
    }
  })

  it('deletes stopped nodes after a day', async () => {
    await test.sql`update nodes set fenced_at = now() - interval '25 hours' where id = ${test.nodeId}`
    await start()
    expect(await test.count('nodes', 'id = $1', [test.nodeId])).toBe(0)
  })
})

interface Started {
  node: Node
  settled: string[]
  warnings: object[]
  /** Log lines, in order. */
  lines: [string, object][]
  fenced: () => boolean
  /** The number of calls. */
  fences: () => number
}

async function start(isAlone = false, isHeld: Promise<void> = Promise.resolve(), db = test.db): Promise<Started> {
  const settled: string[] = []
  const warnings: object[] = []
  let fences = 0
  const lines: [string, object][] = []
  const tell = (fields: object, message: string): void => void lines.push([message, fields])
  const warn = (fields: object, message: string): void => {
    warnings.push(fields)
    tell(fields, message)
  }
  const log = { info: tell, warn, error: tell }
  const node: Node = new Node({
    db,
    log,
    isAlone,
    settle: async (id) => {
      settled.push(id)
      await isHeld
      await settleIntents(test.db, test.ledger, id)
    },
    onFenced: () => void fences++,
    lowWater: () => inFlight.lowWater(),
  })
  nodes.push(node)
  await node.start()
  return { node, settled, warnings, lines, fenced: () => fences > 0, fences: () => fences }
}

/** Starts a node and lets it fence others: the time for which the database must have been up passes at once. */
async function startAndFence(isDone: () => Promise<boolean>): Promise<Started> {
  const clock = vi.spyOn(performance, 'now')
  try {
    const started = await start()
    const at = performance.now()
    clock.mockImplementation(() => at + 15_000)
    await until('who is silent is fenced', isDone)
    return started
  } finally {
    vi.restoreAllMocks()
  }
}

/** Sets the last beat of a node to so long ago; by default the ledger's test, which does not beat by itself. */
const silence = (seconds: number, nodeId = test.nodeId): Promise<unknown> =>
  test.sql`update heartbeats set seen_at = now() - make_interval(secs => ${seconds}) where node_id = ${nodeId}`

/** Lets the time of a beat pass, and waits for the beat. */
async function nextBeat(nodeId: string): Promise<void> {
  await silence(6, nodeId)
  vi.advanceTimersByTime(2000)
  const isHeard = `node_id = $1 and seen_at > now() - interval '5 seconds'`
  await until('it is heard of', async () => (await test.count('heartbeats', isHeard, [nodeId])) === 1)
}

const isFenced = async (id: string): Promise<boolean> =>
  (await test.count('nodes', 'id = $1 and fenced_at is not null', [id])) === 1
