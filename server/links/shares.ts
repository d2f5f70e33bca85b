/** A process with a part of a link; lists of them have the same order everywhere. */
export interface Holder {
  nodeId: string
  /** Its bound sessions, or slots while no process has any. */
  weight: number
}

/**
 * Splits whole units among holders by weight, largest remainders first; the parts add up to the whole unless all weights are zero. A weight of zero
 * gets nothing.
 */
export function splitUnits(units: number, holders: readonly Holder[]): Map<string, number> {
  const total = holders.reduce((sum, holder) => sum + holder.weight, 0)
  const parts = holders.map(({ nodeId, weight }) => {
    const exact = total === 0 ? 0 : (units * weight) / total
    return { nodeId, part: Math.floor(exact), rest: exact - Math.floor(exact), weight }
  })
  let left = total === 0 ? 0 : units - parts.reduce((sum, { part }) => sum + part, 0)
  const order = parts.filter(({ weight }) => weight > 0).sort((a, b) => b.rest - a.rest)
  for (const one of order) {
    if (left <= 0) break
    one.part++
    left--
  }
  return new Map(parts.map(({ nodeId, part }) => [nodeId, part]))
}

/** A slot in the database. */
export interface Slot {
  slot: number
  /** The holder of a live lease; null: free. */
  nodeId: string | null
}

/**
 * A process's changes to a link's slots: takes free ones up to its fair part, and gives up those beyond it, highest first. Slots above `sessions` are
 * always given up. `contenders` counts the processes that want some, including this one.
 */
export function chooseSlots(
  slots: readonly Slot[],
  me: string,
  sessions: number,
  contenders: number,
): { take: number[]; give: number[] } {
  const fair = Math.ceil(sessions / Math.max(1, contenders))
  const held = slots.filter((slot) => slot.nodeId === me).map(({ slot }) => slot)
  const kept = held.filter((slot) => slot <= sessions).sort((a, b) => a - b)
  const give = [...held.filter((slot) => slot > sessions), ...kept.slice(fair)]
  const taken = new Set(slots.filter((slot) => slot.nodeId !== null).map(({ slot }) => slot))
  const free = Array.from({ length: sessions }, (_, i) => i + 1).filter((slot) => !taken.has(slot))
  return { take: free.slice(0, Math.max(0, fair - kept.length)), give }
}

/** This process's part of a pace: in use, and as permitted by the database. */
export interface Grant {
  /** Units in use in memory. */
  used: number
  /** Units reserved from others: at least `used`, and the use of less than a second ago. */
  written: number
  /** The last decrease of `used`, in monotonic milliseconds. */
  loweredAt: number
}

/**
 * The next grant, decided under the lock. It grows only into free units; it shrinks at once in memory, but in the database a second later, so that no
 * second sees the old part here and the new one elsewhere.
 */
export function nextGrant(grant: Grant, target: number, units: number, others: number, now: number): Grant {
  const used = Math.max(0, Math.min(target, units - others))
  const loweredAt = used < grant.used ? now : grant.loweredAt
  const isSettled = now - loweredAt >= 1000
  return { used, written: isSettled ? used : Math.max(used, grant.written), loweredAt }
}

/** Puts a decided grant to use. If it is smaller, the old part was in use until now: the turn that decided it may have waited for other processes. */
export const takeGrant = (before: Grant, decided: Grant, now: number): Grant =>
  decided.used < before.used ? { ...decided, loweredAt: now } : decided
