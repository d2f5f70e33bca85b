/** Tracks which accounts sent a short request lately: long work makes room for other accounts, and none if it is alone. */

// An account that sends one request a second counts as present.
const lastingMs = 1000
/** Beside others, long work gets a quarter of the time. */
export const restsPerWork = 3

interface Seen {
  accountId: string
  at: number
}

// One per process. The last account, and the last different one before it.
let last: Seen = { accountId: '', at: -Infinity }
let other: Seen = last

export function noteCompany(accountId: string): void {
  if (last.accountId !== accountId) {
    other = last
    last = { accountId, at: 0 }
  }
  last.at = performance.now()
}

export function hasCompany(accountId: string): boolean {
  const one = last.accountId === accountId ? other : last
  return performance.now() - one.at < lastingMs
}
