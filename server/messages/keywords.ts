/** STOP, START and HELP in replies: the whole text, whatever its case, quotes and punctuation. */

export type Keyword = 'stop' | 'start' | 'help'

// The union of what Twilio, AWS and CTIA's handbook take as a stop. YES is no start: it collides with "reply YES to confirm".
const words: Record<Keyword, readonly string[]> = {
  stop: [
    'STOP',
    'STOPALL',
    'STOP ALL',
    'UNSUBSCRIBE',
    'END',
    'QUIT',
    'CANCEL',
    'REVOKE',
    'OPTOUT',
    'OPT OUT',
    'OPT-OUT',
    'REMOVE',
    'TD',
    'ARRET',
    'ARRÊT',
  ],
  start: ['START', 'UNSTOP'],
  help: ['HELP', 'INFO'],
}

const keywordOf = new Map(
  Object.entries(words).flatMap(([keyword, all]) => all.map((word) => [word, keyword as Keyword])),
)

// No keyword is longer; a long text is not even looked at.
const keywordLengthMax = 40

/** The keyword that a reply is, or null. `Stop!`, ` "stop" ` and `STOP.` are; `STOP PLEASE` and `STOP 12345` are not. */
export function readKeyword(text: string): Keyword | null {
  if (text.length > keywordLengthMax) return null
  const bare = text
    .normalize('NFC')
    .replace(/^[\s\p{P}\p{S}]+|[\s\p{P}\p{S}]+$/gu, '')
    .replace(/\s+/g, ' ')
    .toUpperCase()
  return keywordOf.get(bare) ?? null
}

/** The keywords, for the settings. */
export const keywords = words

/** What is answered once to each keyword; `name` is the account's. */
export const confirmations: Record<Keyword, (name: string) => string> = {
  stop: (name) =>
    `${name}: You have been unsubscribed and will receive no more messages. Reply START to subscribe again.`,
  start: (name) => `${name}: You are subscribed again. Reply STOP to unsubscribe.`,
  help: (name) => `${name}: Reply STOP to unsubscribe. Message and data rates may apply.`,
}
