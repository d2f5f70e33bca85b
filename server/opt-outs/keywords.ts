/** STOP, START and HELP in replies: exact keywords, suspected ones, and the answers. */
import { withoutCourtesy } from './courtesy.ts'
import { foldWord } from './fold.ts'
import { withoutQuotes } from './quotes.ts'

export type Keyword = 'stop' | 'start' | 'help'

/** Handling of a reply that may mean STOP: a person reviews it, it is ignored, or it counts as STOP. */
export const suspicionActions = ['flag', 'ignore', 'opt_out'] as const
export type SuspicionAction = (typeof suspicionActions)[number]

/** Words of an account or campaign, and the answers to them; null: no answer. `{{account_name}}` in an answer is the account's name. */
export interface KeywordSettings {
  words: Record<Keyword, readonly string[]>
  replies: Record<Keyword, string | null>
  onSuspicion: SuspicionAction
}

/** The placeholder of an account's name. */
const accountName = /\{\{\s*account_name\s*\}\}/g

// English: the stop words of Twilio, AWS and CTIA's handbook. Others: the words that marketing messages in those languages ask for.
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
  french: ['ARRET', 'ARRETER', 'ARRETEZ', 'DESABONNER', 'DESINSCRIRE'],
  german: ['STOPP', 'ABMELDEN', 'ABBESTELLEN'],
  scandinavian: ['AVSLUTA', 'AVREGISTRER', 'AFMELD'],
  dutch: ['AFMELDEN', 'UITSCHRIJVEN', 'STOPPEN'],
  spanish: ['ALTO', 'BAJA', 'PARAR', 'CANCELAR'],
  portuguese: ['SAIR'],
  italian: ['ANNULLA', 'DISISCRIVI'],
  finnish: ['LOPETA'],
  polish: ['REZYGNUJE', 'WYPISZ'],
  czech: ['ODHLASIT', 'ZRUSIT'],
  romanian: ['DEZABONARE'],
  turkish: ['IPTAL'],
  indonesian: ['BERHENTI'],
  vietnamese: ['HUY', 'HUY ĐANG KY', 'DUNG LAI'],
  russian: ['СТОП', 'ОТПИСАТЬСЯ'],
  ukrainian: ['ВІДПИСАТИСЯ'],
  greek: ['ΔΙΑΓΡΑΦΗ', 'ΣΤΟΠ'],
  arabic: ['إيقاف', 'إلغاء', 'توقف'],
  hebrew: ['הסר', 'הסרה'],
  hindi: ['बंद', 'रोकें'],
  thai: ['หยุด', 'ยกเลิก'],
  // TD is 退订 in letters.
  chinese: ['TD', '退订', '退訂', '取消'],
  japanese: ['停止', '配信停止'],
  korean: ['수신거부', '중지'],
}

/** The defaults. YES is not a start: it collides with "reply YES to confirm". */
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

// No keyword is longer, and so no longer text is one.
export const keywordLengthMax = 40
// A suspected reply is a short note. In a long one such words mean something else ("we stop by at noon").
const suspicionLengthMax = 160
// The longest reply that is read: ten segments.
const readLengthMax = 1600
// With the stop word, which may be several.
const suspicionWordsMax = 6

/** A reply's statement about further messages. */
export interface KeywordFinding {
  /** Acted on. START and HELP are the whole reply; STOP may have courtesies around it, and be repeated. */
  keyword: Keyword | null
  /** Not a keyword, but it may mean STOP: `no more texts`, `STOP 12345`, `don't stop`. */
  isSuspect: boolean
}

const nothing: KeywordFinding = { keyword: null, isSuspect: false }

/**
 * The meaning of a reply to `ourNumber` by the settings. `Stop!`, `STOP STOP`, `please stop texting me` and `ARRÊT svp` are STOP; what says anything
 * else besides is suspect.
 */
export function readKeyword(
  text: string,
  { words }: Pick<KeywordSettings, 'words'> = keywordDefaults,
  ourNumber = '',
): KeywordFinding {
  const own = withoutQuotes(text).trim()
  if (own.length > readLengthMax) return nothing
  const folded = foldWord(own)
  if (folded === '') return { keyword: null, isSuspect: stopSigns.test(own) }
  if (folded.length <= keywordLengthMax)
    for (const keyword of ['stop', 'start', 'help'] as const)
      if (foldAll(words[keyword]).has(folded)) return { keyword, isSuspect: false }
  const stops = foldAll(words.stop)
  // Chinese in the other byte order is Chinese, too: only the words show it.
  const swapped = Buffer.from(own, 'utf16le').swap16().toString('utf16le')
  if ([folded, foldWord(swapped)].some((one) => isStop(one, stops, ourNumber)))
    return { keyword: 'stop', isSuspect: false }
  // A sentence of its own: `STOP. You have the wrong person`.
  const sentences = own.split(/[.!?;\r\n]+/)
  return {
    keyword: null,
    isSuspect:
      (sentences.length > 1 && sentences.some((one) => isStop(foldWord(one), stops, ourNumber))) ||
      (folded.length <= suspicionLengthMax && looksLikeStop(folded, stops)),
  }
}

const patterns = new WeakMap<ReadonlySet<string>, RegExp>()

/** Nothing but stop words, courtesies and our number. A letter three times in a row is a key held down, and letters with blanks are one word. */
function isStop(folded: string, stops: ReadonlySet<string>, ourNumber: string): boolean {
  let pattern = patterns.get(stops)
  if (!pattern) patterns.set(stops, (pattern = new RegExp(`^(?:(${[...stops].join('|')})\\1* )+$`, 'u')))
  const spelled = /^(?:\S ){3,}\S$/u.test(folded) ? folded.replaceAll(' ', '') : folded
  const said = withoutCourtesy(spelled.replace(/(\p{L})\1\1+/gu, '$1'))
  return pattern.test(`${ourNumber ? ` ${said} `.replaceAll(` ${ourNumber} `, ' ').trim() : said} `)
}

// Signs with that meaning, from phones that offer no other answer to a text that ends in STOP.
const stopSigns = /[🛑⛔🚫🖐✋🤚]/u

// Folding some fifty words takes longer than all other work on a reply in memory; most accounts share the lists.
const foldedOf = new WeakMap<readonly string[], ReadonlySet<string>>()

function foldAll(words: readonly string[]): ReadonlySet<string> {
  let folded = foldedOf.get(words)
  if (!folded) foldedOf.set(words, (folded = new Set(words.map(foldWord))))
  return folded
}

// Other wordings, as folded parts of a text. US law accepts any reasonable wording (47 CFR 64.1200(a)(10)).
const phrases =
  / (REMOVE ME|TAKE ME OFF|LEAVE ME ALONE|NO MORE (TEXTS?|MESSAGES?|SMS)|(DO NOT|DONT|DON T|STOP) (TEXT|TXT|MESSAG|CONTACT|SEND)(ING)?|UNSUB|OPT ME OUT|WRONG NUMBER) /

function looksLikeStop(folded: string, stops: ReadonlySet<string>): boolean {
  if (phrases.test(` ${folded} `)) return true
  // Words of two or three letters are too common inside texts.
  const long = [...stops].filter((stop) => stop.length > 3)
  const tokens = folded.split(' ')
  const isNearlyAll = (stop: string): boolean => tokens.length < suspicionWordsMax + stop.split(' ').length
  if (long.some((stop) => isNearlyAll(stop) && ` ${folded} `.includes(` ${stop} `))) return true
  const isSpelled = tokens.every((token) => token.length === 1)
  if (tokens.length > 1 && !isSpelled) return false
  const word = tokens.join('')
  const squeezed = squeeze(word)
  return long.some((stop) => squeeze(stop) === squeezed) || swaps(word).some((swapped) => long.includes(swapped))
}

// A key held down too long counts once: STOPPP.
const squeeze = (word: string): string => word.replace(/(.)\1+/gu, '$1')

/** The word with each two neighbours swapped: SOTP. */
function swaps(word: string): string[] {
  const letters = Array.from(word).slice(0, keywordLengthMax)
  return letters
    .slice(1)
    .map((letter, at) => [...letters.slice(0, at), letter, letters[at] ?? '', ...letters.slice(at + 2)].join(''))
}

/** The answer to a keyword with the account's name in it; null: none. */
export function writeReply(settings: Pick<KeywordSettings, 'replies'>, keyword: Keyword, name: string): string | null {
  // A function: `$&` in a name must stay literal.
  return settings.replies[keyword]?.replace(accountName, () => name) ?? null
}
