/** Our words quoted in a reply, which are not the person's: phones send reactions, and some mail programs whole threads. */

const opening = '“”„«»"″‟「『《‹'
const closing = '“”„«»"″‟」』》›'
const quote = `[${opening}][\\s\\S]*[${closing}]`
const plainQuote = `[${opening}][^${opening}${closing}]*[${closing}]`

// The words of iPhones before a quoted text, by language; also without a quote, for a picture.
const verbs = [
  /(?:liked|loved|disliked|laughed at|emphasi[sz]ed|questioned|reacted\s.{1,24}?\sto|removed\s.{1,40}?\sfrom)/,
  /(?:a aimé|a adoré|n['’]a pas aimé|a ri de|a souligné|s['’]est exclamé(?:e)? devant|s['’]est interrogé(?:e)? sur|a réagi avec .{1,24}? à|a réagi .{1,24}? à|a supprimé .{1,60}? (?:de|du|à))/,
  /(?:le gusta|le gustó|le encanta|le encantó|no le gusta|no le gustó|se rió de|se rio de|le ha gustado|enfatizó|exclamó por|ha (?:enfatizado|preguntado|cuestionado)|cuestionó|reaccionó con .{1,24}? a|ha reaccionado con .{1,24}? a|quitó .{1,60}? (?:de|a)|eliminó .{1,60}? (?:de|a))/,
  /(?:gostou de|curtiu|adorou|amou|n[ãa]o gostou de|riu de|enfatizou|questionou|reagiu com .{1,24}? a|reagiu .{1,24}? a|removeu .{1,60}? de)/,
  /(?:piace|ha messo (?:mi piace|non mi piace) a|ha apprezzato|ha adorato|non ha apprezzato|ha riso (?:di|per)|ha enfatizzato|ha evidenziato|si è chiesto|ha reagito con .{1,24}? a|ha rimosso .{1,60}? da)/,
  /(?:vond .{0,20}?leuk|vindt .{0,20}?leuk|vond|vindt|vind ik leuk:?|lachte om|moest lachen om|benadrukte|vroeg zich af|reageerde (?:met )?.{1,24}? op|verwijderde .{1,60}? (?:van|uit))/,
  /(?:gillade|älskade|ogillade|skrattade åt|betonade|ifrågasatte|likte|elskede|elsket|synes godt om|reagerade (?:med )?.{1,24}? på|reagerte (?:med )?.{1,24}? på|reagerede (?:med )?.{1,24}? på)/,
  /(?:polubił(?:a)?|понравилось|не понравилось|отметил(?:а)? .{1,40}?|reagiert mit .{1,24}? auf|reagierte mit .{1,24}? auf)/,
]
const before = new RegExp(`^(?:${verbs.map(({ source }) => source).join('|')})\\s*:?\\s*${quote}\\s*\\.?$`, 'iu')
// German puts the verb after the text.
const behind = new RegExp(
  `^(?:(?:hat|du hast|sie hat|er hat)\\s+)?${plainQuote}\\s*(?:mit\\s+[${opening}‚‘']?[\\s\\S]{1,40}?[${closing}‘’']?\\s+(?:markiert|reagiert|kommentiert)|geliebt|gefällt (?:mir|ihr|ihm)(?: nicht)?|betont|hervorgehoben|infrage gestellt|in frage gestellt)\\s*\\.?$`,
  'iu',
)
// Android: the sign, the word for "to" in some language, and the text.
const sign = new RegExp(
  `^[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u200d\\ufe0f]+\\s+(?:to|an|auf|à|a|para|su|op|till|til|на|do|zu)\\s+${quote}\\s*$`,
  'iu',
)
const unseen = /[\u200a-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/**
 * A reply without its quotes: '' for a reaction to one of our messages, and without the lines of a thread (`> …`). Only a reply that has the form of
 * a reaction as a whole is one: words before or after the quote are the person's, and then all of it counts.
 */
export function withoutQuotes(text: string): string {
  const shown = text.replace(unseen, '').trim()
  if (behind.test(shown) || ((before.test(shown) || sign.test(shown)) && isOneQuote(shown))) return ''
  if (!/^\s*>/m.test(text)) return text
  return text
    .split(/\r\n?|\n/)
    .filter((line) => !/^\s*>/.test(line))
    .join('\n')
}

/** Whether there is a single pair of quotes: `Liked “one” STOP “two”` has words of the person. */
function isOneQuote(text: string): boolean {
  const start = text.search(new RegExp(`[${opening}]`))
  const inner = text.slice(start + 1, text.search(new RegExp(`[${closing}][^${closing}]*$`)))
  const mark = text[start] ?? ''
  if (mark === '"' || mark === '″' || mark === '‟') return !inner.includes(mark)
  return !/[”»」』›“][^“„«「『‹”]*[\p{L}\p{N}][^“„«「『‹”]*[“„«「『‹]/u.test(inner)
}
