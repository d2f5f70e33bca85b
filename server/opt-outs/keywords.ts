/** STOP, START and HELP in replies: what counts as one, what only looks like one, and what is answered. */
import { withoutQuotes } from './quotes.ts'

export type Keyword = 'stop' | 'start' | 'help'

/** What to do with a reply that may mean STOP: a person looks at it, nothing, or the same as for STOP. */
export const suspicionActions = ['flag', 'ignore', 'opt_out'] as const
export type SuspicionAction = (typeof suspicionActions)[number]

/** The words of an account or campaign, and the answers to them; null: no answer. `{{account_name}}` in an answer is the account's name. */
export interface KeywordSettings {
  words: Record<Keyword, readonly string[]>
  replies: Record<Keyword, string | null>
  onSuspicion: SuspicionAction
}

/** The placeholder of an account's name. */
const accountName = /\{\{\s*account_name\s*\}\}/g

// English: what Twilio, AWS and CTIA's handbook take as a stop. Others: the words that marketing messages of those languages tell people to send.
const stops = {
  english: [
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
    'REMOVE',
  ],
  french: ['ARRET', 'DESABONNER'],
  german: ['STOPP', 'ABMELDEN', 'ABBESTELLEN'],
  scandinavian: ['AVSLUTA', 'AVREGISTRER', 'AFMELD'],
  dutch: ['AFMELDEN', 'UITSCHRIJVEN'],
  spanish: ['ALTO', 'BAJA', 'PARAR', 'CANCELAR'],
  portuguese: ['SAIR'],
  italian: ['ANNULLA', 'DISISCRIVI'],
  finnish: ['LOPETA'],
  polish: ['REZYGNUJE', 'WYPISZ'],
  czech: ['ODHLASIT'],
  romanian: ['DEZABONARE'],
  turkish: ['IPTAL'],
  indonesian: ['BERHENTI'],
  vietnamese: ['HUY'],
  russian: ['СТОП', 'ОТПИСАТЬСЯ'],
  ukrainian: ['ВІДПИСАТИСЯ'],
  greek: ['ΔΙΑΓΡΑΦΗ'],
  arabic: ['إيقاف', 'إلغاء'],
  hebrew: ['הסר', 'הסרה'],
  hindi: ['बंद', 'रोकें'],
  // TD is 退订 in letters.
  chinese: ['TD', '退订', '退訂', '取消'],
  japanese: ['停止', '配信停止'],
  korean: ['수신거부', '중지'],
}

/** What holds where nobody says otherwise. YES is no start: it collides with "reply YES to confirm". */
export const keywordDefaults: KeywordSettings = {
  words: {
    stop: Object.values(stops).flat(),
    start: ['START', 'UNSTOP', 'СТАРТ', 'INICIAR', 'DEMARRER', '开始', '開始'],
    help: ['HELP', 'INFO', 'AIDE', 'HILFE', 'AYUDA', 'AJUDA', 'AIUTO', 'ПОМОЩЬ', '帮助', '幫助', 'ヘルプ'],
  },
  replies: {
    stop: '{{account_name}}: You have been unsubscribed and will receive no more messages. Reply START to subscribe again.',
    start: '{{account_name}}: You are subscribed again. Reply STOP to unsubscribe.',
    help: '{{account_name}}: Reply STOP to unsubscribe. Message and data rates may apply.',
  },
  onSuspicion: 'flag',
}

/**
 * A reply as it is compared. Two words that fold alike are one word: case, accents, width, punctuation around it and hyphens do not matter,
 * nor what nobody sees, such as the marks of direction that phones put around Arabic and Hebrew.
 */
export function foldWord(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{Mn}\p{Cf}]/gu, '')
    .replace(/[\s\p{P}\p{S}\p{Cc}]+/gu, ' ')
    .trim()
    .toUpperCase()
}

// No keyword is longer; a longer text is not one.
export const keywordLengthMax = 40
// A suspicion is a short note. In a long one such words mean something else ("we stop by at noon").
const suspicionLengthMax = 160
const suspicionWordsMax = 6

/** What a reply says to its sender about more messages. */
export interface KeywordFinding {
  /** Exactly a keyword, whatever its case, accents and punctuation: acted on. */
  keyword: Keyword | null
  /** No keyword, but it may mean STOP: `stop please`, `S T O P`, `STOPPP`. */
  isSuspect: boolean
}

const nothing: KeywordFinding = { keyword: null, isSuspect: false }

/** What a reply means by the settings. `Stop!`, ` "stop" ` and `ARRÊT` are keywords; `STOP PLEASE` and `STOP 12345` are suspect. */
export function readKeyword(text: string, { words }: Pick<KeywordSettings, 'words'> = keywordDefaults): KeywordFinding {
  const own = withoutQuotes(text)
  if (own.length > suspicionLengthMax) return nothing
  if (stopSigns.test(own) && foldWord(own) === '') return { keyword: null, isSuspect: true }
  const folded = foldWord(own)
  if (folded === '') return nothing
  if (folded.length <= keywordLengthMax)
    for (const keyword of ['stop', 'start', 'help'] as const)
      if (foldAll(words[keyword]).has(folded)) return { keyword, isSuspect: false }
  return { keyword: null, isSuspect: looksLikeStop(folded, foldAll(words.stop)) }
}

// Signs that say it without a word, of phones that have no other answer to a text that ends in STOP.
const stopSigns = /[🛑⛔🚫🖐✋🤚]/u

// Folding some fifty words takes longer than everything else about a reply in memory; most accounts have the same lists.
const foldedOf = new WeakMap<readonly string[], ReadonlySet<string>>()

function foldAll(words: readonly string[]): ReadonlySet<string> {
  let folded = foldedOf.get(words)
  if (!folded) foldedOf.set(words, (folded = new Set(words.map(foldWord))))
  return folded
}

// What people write instead, as folded pieces of a text. US law asks for any reasonable wording (47 CFR 64.1200(a)(10)).
const phrases =
  / (REMOVE ME|TAKE ME OFF|LEAVE ME ALONE|NO MORE (TEXTS?|MESSAGES?|SMS)|(DO NOT|DONT|DON T|STOP) (TEXT|TXT|MESSAG|CONTACT|SEND)(ING)?|UNSUB|OPT ME OUT|WRONG NUMBER) /

function looksLikeStop(folded: string, stops: ReadonlySet<string>): boolean {
  if (phrases.test(` ${folded} `)) return true
  // Words of two or three letters are too common inside of texts.
  const long = [...stops].filter((stop) => stop.length > 3)
  const tokens = folded.split(' ')
  if (tokens.length <= suspicionWordsMax && long.some((stop) => ` ${folded} `.includes(` ${stop} `))) return true
  const isSpelled = tokens.every((token) => token.length === 1)
  if (tokens.length > 1 && !isSpelled) return false
  const word = tokens.join('')
  const squeezed = squeeze(word)
  return long.some((stop) => squeeze(stop) === squeezed) || swaps(word).some((swapped) => long.includes(swapped))
}

// A letter that was held down too long is one: STOPPP.
const squeeze = (word: string): string => word.replace(/(.)\1+/gu, '$1')

/** The word with each two neighbours changed over: SOTP. */
function swaps(word: string): string[] {
  const letters = Array.from(word).slice(0, keywordLengthMax)
  return letters
    .slice(1)
    .map((letter, at) => [...letters.slice(0, at), letter, letters[at] ?? '', ...letters.slice(at + 2)].join(''))
}

/** The answer to a keyword with the account's name in it; null: none. */
export function writeReply(settings: Pick<KeywordSettings, 'replies'>, keyword: Keyword, name: string): string | null {
  // A function: `$&` in a name is only a name.
  return settings.replies[keyword]?.replace(accountName, () => name) ?? null
}
