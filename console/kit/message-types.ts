/** What messages are for, as it is called everywhere, and how one of these is chosen. */
import type { Message } from '@heliogram/sdk'

export type MessageType = NonNullable<Message['type']>

export const typeNames: Record<MessageType, string> = {
  otp: 'One-time codes',
  transactional: 'Transactional',
  marketing: 'Marketing',
}

/** The type that an address or a field says; none otherwise. */
export const typeOf = (text: string | undefined): MessageType | undefined =>
  Object.keys(typeNames).find((name): name is MessageType => name === text)

/** For a field in which one of them can be chosen. `none`: what an empty choice means. */
export const typeOptions = (none: string): [string, string][] => [['', none], ...Object.entries(typeNames)]
