/** One idempotency key for each order that is meant: tried again it is the same, changed it is another. */
import { useRef } from 'react'

/** The key for an order as it is now. `renew` begins anew, when one was taken. */
export function useOrderKey(order: unknown): { key: () => string; renew: () => void } {
  const kept = useRef({ order: '', key: '' })
  const text = JSON.stringify(order)
  const key = () => {
    if (kept.current.order !== text) kept.current = { order: text, key: randomKey() }
    return kept.current.key
  }
  const renew = () => {
    kept.current = { order: '', key: '' }
  }
  return { key, renew }
}

/** Pages that came over plain HTTP have no `crypto.randomUUID`. */
const randomKey = (): string =>
  `console-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
