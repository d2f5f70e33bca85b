/** Labels of message types. */
import type { Message } from '@heliogram/sdk'

export type MessageType = NonNullable<Message['type']>

export const typeNames: Record<MessageType, string> = {
  otp: 'One-time codes',
  transactional: 'Transactional',
  marketing: 'Marketing',
}

/** The type in an address or a field; undefined if unknown. */
export const typeOf = (text: string | undefined): MessageType | undefined =>
  Object.keys(typeNames).find((name): name is MessageType => name === text)

/** `none`: the label of an empty choice. */
export const typeOptions = (none: string): [string, string][] => [['', none], ...Object.entries(typeNames)]
