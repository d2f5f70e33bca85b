import type { Operations, SmppCredential } from '@heliogram/sdk'
import { numberFrom, wordsOf } from '../../../kit/typed.ts'

type Body = Operations['createSmppCredential']['body']

export interface SmppDraft {
  name: string
  networks: string
  maxSessions: string
  window: string
  pace: string
  alphabet: NonNullable<Body['default_alphabet']>
  receivesReplies: boolean
  concatenation: NonNullable<Body['reply_concatenation']>
}

export const emptySmpp: SmppDraft = {
  name: '',
  networks: '',
  maxSessions: '4',
  window: '100',
  pace: '100',
  alphabet: 'gsm7',
  receivesReplies: false,
  concatenation: 'udh8',
}

export const smppDraftOf = (one: SmppCredential): SmppDraft => ({
  name: one.name,
  networks: one.allowed_cidrs.join('\n'),
  maxSessions: String(one.max_sessions),
  window: String(one.window),
  pace: String(one.pace),
  alphabet: one.default_alphabet,
  receivesReplies: one.receives_replies,
  concatenation: one.reply_concatenation,
})

export const smppBodyOf = (draft: SmppDraft): Body => ({
  name: draft.name.trim(),
  allowed_cidrs: wordsOf(draft.networks),
  max_sessions: numberFrom(draft.maxSessions),
  window: numberFrom(draft.window),
  pace: numberFrom(draft.pace),
  default_alphabet: draft.alphabet,
  receives_replies: draft.receivesReplies,
  reply_concatenation: draft.concatenation,
})

export const alphabets: readonly (readonly [SmppDraft['alphabet'], string])[] = [
  ['gsm7', 'GSM-7, a septet an octet'],
  ['latin1', 'Latin-1'],
  ['ascii', 'ASCII'],
]

export const concatenations: readonly (readonly [SmppDraft['concatenation'], string])[] = [
  ['udh8', 'UDH, with references of 8 bits'],
  ['udh16', 'UDH, with references of 16 bits'],
  ['sar', 'SAR parameters'],
  ['payload', 'message_payload'],
]
