import { hash } from 'node:crypto'

/** The id of the conversation between an account's number and a person: a UUIDv8 (RFC 9562 §5.8) of their SHA-256, so that no look-up is needed. */
export function conversationIdOf(accountId: string, ourNumber: string, theirNumber: string): string {
  const hex = hash('sha256', `${accountId} ${ourNumber} ${theirNumber}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
