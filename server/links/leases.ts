/**
 * Leases: each process's slots of a link, and its part of the pace. They are decided by one process at a time, under one lock, so that slots never
 * have two holders and the parts of a pace never exceed the whole.
 */
import { fieldsOf } from '../ground/db/array.ts'
import { inTransaction, type Db, type Queryable, type Tx } from '../ground/db/db.ts'
import { readLeases, type LinkRow, type SlotRow, type StateRow } from './lease-rows.ts'
import { capacityOf } from './pace.ts'
import { chooseSlots, nextGrant, splitUnits, type Grant, type Holder } from './shares.ts'
import type { LinkReport } from './carrier-store.ts'

/** Ends before its node is fenced (see node.ts), and survives a few missed renewals. */
export const leaseSeconds = 10
/** Writing stops this long before the end: clocks of machines differ in speed, and a write takes time. */
export const marginMs = 2000
// One constant for all installations: an arbitrary number.
const lockId = 7_422_571_001

export interface Held {
  /** Slots by number, with their epoch. */
  slots: ReadonlyMap<number, string>
  /** Slots to release now: their sessions are gone. */
  free: readonly number[]
  wants: boolean
  grant: Grant
  report: LinkReport
  /** Whether to write the report or the lease; else nothing changes. */
  isDue: boolean
}

/** The state of a running link after the renewal. */
export interface LeasedLink {
  id: string
  carrierId: string
  kind: LinkRow['kind']
  /** Changes with the settings and the password. */
  version: string
  /** Of the whole link. */
  pace: number
  slots: Map<number, string>
  /** Slots beyond this process's fair part. */
  give: number[]
  grant: Grant
  /** Processes with their sessions, including this one. */
  holders: Holder[]
  /** The lowest part of the pace that refusals have left at any process. */
  fraction: number
  /** Whether another process has it bound. */
  isUpElsewhere: boolean
  /** Whether another process holds it without a session, and waits for a message as its trial. */
  isOnTrialElsewhere: boolean
  /** Whether the lease was written now, or continues. */
  isRenewed: boolean
}

/** Renews this node's leases, takes free slots up to its fair part, and reports. Null: this node is fenced and holds nothing. */
export async function renewLeases(
  db: Db,
  nodeId: string,
  held: (linkId: string) => Held,
  now: number,
): Promise<LeasedLink[] | null> {
  const known = new Map<string, Held>()
  const heldOnce = (linkId: string): Held => {
    const mine = known.get(linkId) ?? held(linkId)
    known.set(linkId, mine)
    return mine
  }
  // Most turns write nothing, and need no lock.
  const seen = await decideAll(db, nodeId, heldOnce, now)
  if (!seen || seen.writes.length === 0) return seen?.leased ?? null
  return inTransaction(db, async (tx) => {
    // A process that freezes with the lock would block all others: PostgreSQL ends its transaction.
    await tx.query(`set local idle_in_transaction_session_timeout = '2s'; select pg_advisory_xact_lock(${lockId})`)
    const decided = await decideAll(tx, nodeId, heldOnce, now, 'for share')
    if (!decided) return null
    if (decided.writes.length > 0) await write(tx, nodeId, decided.writes)
    return decided.leased
  })
}

async function decideAll(
  db: Queryable,
  nodeId: string,
  held: (linkId: string) => Held,
  now: number,
  lock: 'for share' | '' = '',
): Promise<{ leased: LeasedLink[]; writes: Write[] } | null> {
  const read = await readLeases(db, nodeId, lock)
  if (!read) return null
  const slots = Map.groupBy(read.slots, (row) => row.linkId)
  const states = Map.groupBy(read.states, (row) => row.linkId)
  const writes: Write[] = []
  const leased = read.links.map((link) => {
    const mine = held(link.id)
    const one = decide(link, slots.get(link.id) ?? [], states.get(link.id) ?? [], nodeId, mine, now)
    const isTaken = [...one.slots].some(([slot, epoch]) => mine.slots.get(slot) !== epoch)
    one.isRenewed = mine.isDue || mine.free.length > 0 || isTaken || one.grant.written !== mine.grant.written
    if (one.isRenewed) writes.push({ link: one, report: mine.report, free: mine.free, wants: mine.wants })
    return one
  })
  return { leased, writes }
}

/** Decides on one link. Pure. */
function decide(
  link: LinkRow,
  slotRows: readonly SlotRow[],
  stateRows: readonly StateRow[],
  me: string,
  mine: Held,
  now: number,
): LeasedLink {
  const epochs = new Map(slotRows.map((row) => [row.slot, row.epoch]))
  // Slots are ours while their epoch is the one that we know, even after the lease ran out: no other process has taken them.
  const slots = new Map(
    [...mine.slots].filter(([slot, epoch]) => {
      const row = slotRows.find((one) => one.slot === slot)
      return row?.nodeId === me && row.epoch === epoch && !mine.free.includes(slot)
    }),
  )
  const seen = slotRows
    .filter((row) => !mine.free.includes(row.slot) || row.nodeId !== me)
    .map(({ slot, nodeId, isLive }) => ({
      slot,
      nodeId: nodeId === me ? (slots.has(slot) ? me : null) : isLive ? nodeId : null,
    }))
  const others = stateRows.filter((row) => row.nodeId !== me && row.isLive)
  const { take, give } = chooseSlots(seen, me, link.sessions, others.length + 1)
  if (mine.wants) for (const slot of take) slots.set(slot, String(BigInt(epochs.get(slot) ?? '0') + 1n))
  const holders = holdersOf(
    [
      ...others.map(({ nodeId, sessions }) => ({
        nodeId,
        sessions,
        slots: seen.filter((slot) => slot.nodeId === nodeId).length,
      })),
      { nodeId: me, sessions: mine.report.sessions, slots: slots.size },
    ].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
  )
  const units = capacityOf(link.pace)
  const target = splitUnits(units, holders).get(me) ?? 0
  const taken = others.reduce((sum, row) => sum + row.units, 0)
  const grant = nextGrant(mine.grant, target, units, taken, now)
  return {
    id: link.id,
    carrierId: link.carrierId,
    kind: link.kind,
    version: link.version,
    pace: link.pace,
    slots,
    give: mine.wants ? give : [],
    grant,
    holders,
    fraction: Math.min(1, ...stateRows.map((row) => row.fraction)),
    isUpElsewhere: others.some((row) => row.isUp),
    isOnTrialElsewhere: link.kind === 'http' && others.some((row) => row.isBindingIdle),
    isRenewed: false,
  }
}

/** The grant of a process that holds nothing yet. */
export const noGrant: Grant = { used: 0, written: 0, loweredAt: -Infinity }

/** Processes with bound sessions share by these; if there are none, by slots. */
function holdersOf(all: readonly { nodeId: string; sessions: number; slots: number }[]): Holder[] {
  const isBound = all.some(({ sessions, slots }) => sessions > 0 && slots > 0)
  return all.map(({ nodeId, sessions, slots }) => ({
    nodeId,
    weight: isBound ? Math.min(sessions, slots) : slots,
  }))
}

interface Write {
  link: LeasedLink
  report: LinkReport
  free: readonly number[]
  wants: boolean
}

/** Writes slots and states of some links, each by primary key. A link that was deleted meanwhile fails the whole write, and the next turn knows. */
async function write(tx: Tx, nodeId: string, writes: readonly Write[]): Promise<void> {
  const slots = writes.flatMap(({ link, free }) => [
    ...[...link.slots].map(([slot, epoch]) => ({ linkId: link.id, slot, epoch, nodeId })),
    // A released slot that is wanted again is taken again.
    ...free
      .filter((slot) => !link.slots.has(slot))
      .map((slot) => ({ linkId: link.id, slot, epoch: null, nodeId: null })),
  ])
  await tx.query({
    name: 'lease-write-slots',
    text: `
      insert into link_slots as s (link_id, slot, node_id, epoch, leased_until)
      select link_id, slot, node_id, coalesce(epoch, 0),
        case when node_id is null then now() else now() + make_interval(secs => $5) end
      from unnest($1::uuid[], $2::int[], $3::uuid[], $4::bigint[]) as t (link_id, slot, node_id, epoch)
      on conflict (link_id, slot) do update
        set node_id = excluded.node_id, epoch = greatest(s.epoch, excluded.epoch), leased_until = excluded.leased_until`,
    values: [...fieldsOf(slots, 'linkId', 'slot', 'nodeId', 'epoch'), leaseSeconds],
  })
  const reports = writes.map(({ link, report, wants }) => ({
    ...report,
    id: link.id,
    units: link.grant.written,
    // A process that neither holds nor wants slots does not share: a link that it cannot start would lose that part.
    isSharing: wants || link.slots.size > 0 || link.grant.written > 0,
  }))
  await tx.query({
    name: 'lease-write-states',
    text: `
      insert into link_states as s (link_id, node_id, leased_until, units, state, sessions, window_max, in_flight, pace,
        pace_fraction, rate_1m, last_enquire_link_at, last_error, last_error_at, updated_at)
      select link_id, $1, case when is_sharing then now() + make_interval(secs => $2) else now() end, units, state, sessions,
        window_max, in_flight, pace, pace_fraction, rate_1m, last_enquire_link_at, last_error, last_error_at, now()
      from unnest($3::uuid[], $4::int[], $5::text[], $6::int[], $7::int[], $8::int[], $9::float8[], $10::float8[], $11::float8[],
        $12::timestamptz[], $13::text[], $14::timestamptz[], $15::bool[])
        as t (link_id, units, state, sessions, window_max, in_flight, pace, pace_fraction, rate_1m, last_enquire_link_at,
          last_error, last_error_at, is_sharing)
      on conflict (link_id, node_id) do update
        set leased_until = excluded.leased_until, units = excluded.units, state = excluded.state, sessions = excluded.sessions,
          window_max = excluded.window_max, in_flight = excluded.in_flight, pace = excluded.pace,
          pace_fraction = excluded.pace_fraction, rate_1m = excluded.rate_1m,
          last_enquire_link_at = excluded.last_enquire_link_at, last_error = excluded.last_error,
          last_error_at = excluded.last_error_at, updated_at = excluded.updated_at`,
    values: [
      nodeId,
      leaseSeconds,
      ...fieldsOf(
        reports,
        'id',
        'units',
        'state',
        'sessions',
        'windowMax',
        'inFlight',
        'pace',
        'fraction',
        'rate',
        'lastEnquireLinkAt',
        'lastError',
        'lastErrorAt',
        'isSharing',
      ),
    ],
  })
}

/** The report on a link that does not run. */
export const noReport: LinkReport = {
  state: 'down',
  sessions: 0,
  windowMax: 0,
  inFlight: 0,
  pace: 0,
  fraction: 1,
  rate: 0,
  lastEnquireLinkAt: null,
  lastError: null,
  lastErrorAt: null,
}

/** Releases a link that no longer runs because it was disabled. */
export async function releaseLink(db: Db, linkId: string, nodeId: string): Promise<void> {
  await db.query(
    `with slots as (
       update link_slots set node_id = null, leased_until = now() where link_id = $1 and node_id = $2
     )
     delete from link_states where link_id = $1 and node_id = $2`,
    [linkId, nodeId],
  )
}

/** Releases everything at a clean stop. */
export async function releaseLeases(db: Db, nodeId: string): Promise<void> {
  await db.query(`update link_slots set node_id = null, leased_until = now() where node_id = $1`, [nodeId])
  await db.query(
    `update link_states
     set leased_until = now(), units = 0, state = 'down', sessions = 0, in_flight = 0, rate_1m = 0, updated_at = now()
     where node_id = $1`,
    [nodeId],
  )
}
