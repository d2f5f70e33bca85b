/** Which accounts sent a short request lately: long work of one account makes room for others, and none if it is alone. */

// An account that sends one request a second counts as present.
const lastingMs = 1000
/** Beside others, long work gets a quarter of the time. */
export const restsPerWork = 3

interface Seen {
  accountId: string
  at: number
}

// One a process, as its processor is. The last account, and the last one before it that was another.
let last: Seen = { accountId: '', at: -Infinity }
let other: Seen = last

/** Notes a short request of an account. */
export function noteCompany(accountId: string): void {
  if (last.accountId !== accountId) {
    other = last
    last = { accountId, at: 0 }
  }
  last.at = performance.now()
}

/** Whether another account is present. */
export function hasCompany(accountId: string): boolean {
  const one = last.accountId === accountId ? other : last
  return performance.now() - one.at < lastingMs
}
