/** Who has asked for something short lately: long work of an account makes room for the others, and none where it is alone. */

// Whoever asks once a second is there.
const lastingMs = 1000
/** Of the time beside others a quarter is worked, as far as there is somebody who would wait. */
export const restsPerWork = 3

interface Seen {
  accountId: string
  at: number
}

// One a process, as its processor is. The last account, and the last one before it that was another.
let last: Seen = { accountId: '', at: -Infinity }
let other: Seen = last

/** Notes that an account asks for something short. */
export function noteCompany(accountId: string): void {
  if (last.accountId !== accountId) {
    other = last
    last = { accountId, at: 0 }
  }
  last.at = performance.now()
}

/** Whether another account than this one is there. */
export function hasCompany(accountId: string): boolean {
  const one = last.accountId === accountId ? other : last
  return performance.now() - one.at < lastingMs
}
