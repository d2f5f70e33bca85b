/** Words for consent and opt-out in other programs: column names, and cell values. */
import { wordsOf } from '../ground/tables/names.ts'

/** The meaning of a cell or a column. */
export type Sign = 'in' | 'out'

const phrases = (text: string): string =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .join('|')

// Without accents, as `wordsOf` returns them; stems, if the language inflects the words.
const channels = phrases(String.raw`
  sms|mms|texts?|messages?|mensajes?|mensagens|messaggi|nachrichten|wiadomosci|beskeder|meddelanden|marketing|werbung|reklam\w*|publicidad|publicite|promotions?
  contact(?:s|er|ar|eren)?|kontakt(?:a|e|ieren|owac)?|contatt(?:o|i|are)|contat(?:o|ar)|смс|сообщени\p{L}*|повідомлен\p{L}*|рассылк\p{L}*|розсилк\p{L}*|реклам\p{L}*|контакт\p{L}*`)
const acts = phrases(String.raw`
  calls?|send|disturb|anschreiben|anrufen|senden|schicken|deranger|appeler|envoyer|molestar|llamar|enviar|perturb\w+|chamar|inviare|chiamare|disturbare
  benaderen|storen|bellen|sturen|dzwonic|wysylac|ringa|skicka|ringe|sende|писать|звонить|отправлять|слать|присылать|беспокоить|писати|дзвонити|надсилати|турбувати`)
const permits = phrases(String.raw`
  allow(?:s|ed)?|receives?|accept(?:s|ed|e|a)?|wants?|may we|erlaubt|erlauben|erwunscht|empfangen|erhalten|zulassen|recevoir|recoit|souhaite|autoris\w+
  recibir|recibe|acepta|aceptar|desea|permit\w*|autoriz\w+|receber|recebe|aceita|ricevere|riceve|accetta|ontvang\w*|toegestaan|otrzymy\w+|tillat\w*|tillad\w*|modtag\w*|motta|mottar|ta emot|salli\w*|vastaanot\w*
  получать|получает|разреш\p{L}*|отримувати|дозвол\p{L}*`)
const denials = phrases(String.raw`
  no|not|never|don ?t|kein\w*|nicht|nie|niemals|ne pas|ne plus|ne jamais|pas de|plus de|aucun|nunca|nao|sem|sin|non|geen|niet|bez|ikke|ingen|ej|inte|inga|ala|не|без|ні|нет`)
const refusals = phrases(String.raw`
  refus\w*|rifiut\w*|rechaz\w*|recus\w*|ablehn\w*|abgelehnt|weiger\w*|exclude[ds]?|excluir|exclure|block(?:ed)?|stop|suppress(?:ed)?`)

// Words without any other meaning.
const outClear = phrases(String.raw`
  (?:has )?opt(?:ed|s|ing)? ?out(?: of sms| sms)?|unsubscri\w*|unsub|do not (?:contact|call|text|sms|disturb|message|mail|send|market|solicit)|don ?t (?:contact|call|text|send)
  dnd|dncr?|dnt|no (?:more )?(?:sms|texts?|marketing|contact|messages)|never (?:contact|text)|not subscribed|never subscribed|non ?subscribed|(?:asked|wants?|wished|requested) (?:us )?to (?:stop|be removed)
  abgemeldet|abmeldung|werbesperre|kontaktsperre|ausgetragen|nicht (?:kontaktieren|anschreiben)|keine (?:sms|werbung)
  desinscri\w*|desabonn\w*|ne p(?:as|lus) (?:contacter|deranger)|bloctel|dado de baja|fecha de baja|no (?:contactar|molestar|llamar|enviar)|desuscrito
  descadastr\w*|nao (?:contatar|contactar|perturbe|perturbar|enviar)|disiscri\w*|non (?:contattare|disturbare|inviare)|uitgeschreven|afgemeld|niet (?:contacteren|benaderen|storen)
  wypisan\w*|nie (?:kontaktowac|dzwonic|wysylac)|avregistrerad|avanmald|kontakta ej|afmeldt|frameldt|avmeldt|markkinointikielto
  abonelikten cikti|rahatsiz etme\w*|aranmasin|odhlasen\w*|nekontaktovat|neposilat|leiratkoz\w*|dezabonat|nu contactati|huy dang ky|berhenti berlangganan|jangan (?:hubungi|ganggu)`)
// Words that may also be about orders or streets.
const outLoose = phrases(String.raw`
  stop(?:ped|all)?|blocked|black ?list(?:ed)?|block ?list(?:ed)?|suppress(?:ed|ion)?|revoked?|withdr(?:awn|ew)|declined|denied|refused|removed|complained|complaint|left|expired|withheld|exclu(?:de|ded|sion)|npai
  c?tps(?: registered)?|robinson\w*|deceased|verstorben|decede|fallecido|falecido|overleden|deceduto|unerwunscht|nicht (?:er|ge)wunscht
  widersprochen|widerspruch|widerrufen|widerruf|gesperrt|sperre|sperrvermerk|abgelaufen|abgelehnt|entzogen|opposition|refus|refuse|revoque|retire|baja|excluido|revocado|retirado
  cancelou(?: inscricao)?|recusou|cancelado|revogado|opposizione|revocato|ingetrokken|rezygnacja|zrezygnowal\w*|sprzeciw|wycofana|odwolana|sparrad|reserver(?:t|ad)|kielto|kielletty|peruutettu
  iptal|ret|reddetti|tu choi`)
const outClearOther =
  /отписа|отписк|не беспокоить|не звонить|не писать|не отправлять|черныи список|відпис|не турбувати|чорнии список|διαγραφ|απεγγραφ|μην επικοινων|配信停止|オプトアウト|送信禁止|連絡不可|退订|退訂|勿扰|勿擾|拒收|黑名单|黑名單|不要发|不要發|不要联系|不要聯繫|请勿|請勿|送らないで|連絡しないで|수신 ?거부|إلغاء الاشتراك|عدم الإزعاج|הסרה|הוסר|डीएनडी|ยกเลิก|ห้ามติดต่อ/u
const outLooseOther = /отказ|отозван|відмова|відклик|退会|拒否|거부/u
const inClear = phrases(String.raw`
  opt(?:ed|s)? ?in|(?:has )?consent(?:ed)?(?: given| status)?|can (?:text|contact|sms)|sms (?:ok|allowed|marketing)
  gdpr|dsgvo|einwilligung|werbeeinwilligung|eingewilligt|zustimmung|zugestimmt|einverstanden|onay\w*|izin|izni|riza\w*|dong y|consentement|consentimiento|consentimento|consenso|toestemming|zgoda|samtycke|samtykke|suostumus|souhlas|hozzajarulas|consimtamant|persetujuan`)
const inLoose = phrases(String.raw`
  subscribed|subscriber|subscription|permission|agreed?|accept(?:s|ed)?|angemeldet|abonne|inscrit|accord|suscrito|acepta|autoriza
  inscrito|aceita|autorizado|iscritto|aangemeld|ingeschreven|feliratkozott|abonat`)
const inClearOther = /соглас|згода|συγκαταθεσ|συναινεσ|同意|配信許可|동의|موافقة|הסכמה|ยินยอม|सहमति/u
const inLooseOther = /подписан|подписк|подписался|订阅|訂閱/u

/** Matches the phrases as words anywhere in a text. */
const among = (...texts: string[]): RegExp => new RegExp(`(?:^| )(?:${texts.join('|')})(?: |$)`, 'u')
const whole = (...texts: string[]): RegExp => new RegExp(`^(?:${texts.join('|')})$`, 'u')

const isChannel = among(channels, 'e ?mails?|mails?|newsletter|correo|courriel|почт\\p{L}*')
const isPermit = among(permits)
// `Phone no` means a number, not a denial.
const isDenial = new RegExp(
  `(?:^| )(?<!(?:phone|mobile|cell|tel|contact|customer|account|ref|id) )(?:${denials})(?: (?:de|d|des|per|via|mehr|more|any|longer|mas|piu|wiecej|больше|by))* (?:${channels}|${acts}|${permits})(?: |$)`,
  'u',
)
const isRefusal = new RegExp(`(?:^| )(?:(?:${refusals}) (?:${channels})|(?:${channels}) (?:${refusals}))(?: |$)`, 'u')
const isOutClear = among(outClear)
const isOutLoose = among(outLoose)
const isInClear = among(inClear)
const isInLoose = among(inLoose)
// A column with such a name holds a manner, a reason or a count.
const isDetail =
  /(?:^| )(?:reasons?|sources?|methods?|consent text|wording|copy|ip|keywords?|pages?|forms?|versions?|ids?|by|urls?|links?|types?|lists?|campaigns?|time|count|number|no of|phone|sent|total|owners?|cost|price|provider|plan|last|grund|quelle|anzahl|art|raison|motif|motivo|origen|fonte|origine|bron|reden|powod|причина|источник)(?: |$)/u
const otherChannel = /(?:^| )(?:e ?mails?|mailing|newsletter|post|postal|fax|push|cookies?|whatsapp)(?: |$)/
const ownChannel = /(?:^| )(?:sms|mms|texts?|mobile|messages?)(?: |$)/

interface NamedSign {
  /** The meaning of a yes in this column. */
  sign: Sign
  /** About e-mail and other channels. */
  isOther: boolean
  /** Hardly any other meaning is possible. */
  isClear: boolean
  /** A manner or a reason, not a yes or no. */
  isDetail: boolean
}

/** The meaning of a yes in a column of this name; null if the name is not about consent. */
export function signOfName(name: string): NamedSign | null {
  const words = wordsOf(name).join(' ')
  const detail = isDetail.test(words)
  const built = !detail && (isDenial.test(words) || isRefusal.test(words))
  const outIsClear = isOutClear.test(words) || outClearOther.test(words) || built
  const isOut = outIsClear || isOutLoose.test(words) || outLooseOther.test(words)
  const inIsLoose = isInLoose.test(words) || inLooseOther.test(words)
  const isOfChannel = (inIsLoose || isPermit.test(words)) && isChannel.test(words)
  const inIsClear = isInClear.test(words) || inClearOther.test(words) || (!detail && isOfChannel)
  if (!isOut && !inIsClear && !inIsLoose) return null
  return {
    sign: isOut ? 'out' : 'in',
    isOther: isOther(words),
    isClear: !detail && (isOut ? outIsClear : inIsClear),
    isDetail: detail,
  }
}

const isOther = (words: string): boolean => otherChannel.test(words) && !ownChannel.test(words)

/** Whether the column is about a channel: SMS, contact, marketing … */
export const isChannelName = (name: string): boolean => isChannel.test(wordsOf(name).join(' '))

/** Whether the column is about SMS, or about all channels. */
export const isOwnChannelName = (name: string): boolean => isChannelName(name) && !isOther(wordsOf(name).join(' '))

/** Whether the column holds a person's status: subscribed, unsubscribed … */
export function isStatusName(name: string): boolean {
  const words = wordsOf(name)
  return !isOther(words.join(' ')) && words.some((word) => statusWords.test(word))
}

const statusWords = /^(status|state|stand|statut|estado|stato|статус|状态|狀態|상태|ステータス)$/

const list = (text: string): Set<string> => new Set(text.trim().split(/\s+/))
const yes = list(`
  yes y true t 1 x on ok v ✓ ✔ ☑ ✅ 👍 yep yeah ja j wahr oui o vrai si s verdadero vero sim verdadeiro sand sann tak prawda ano pravda igen igaz da adevarat evet e dogru
  nai ναι kylla tosi да д истина так істина є はい 是 有 对 真 예 네 نعم כן हाँ हां ใช่ co ya benar waar jah taip ja`)
const no = list(`
  no n false f 0 off nope nah never ☐ 👎 nein falsch non faux falso nao nej falsk nei usann nie falsz ne nepravda nem hamis nu fals hayir h yanlis οχι ei epatosi нет н ложь ні хибність
  いいえ 否 不 无 無 假 아니오 아니요 لا לא नहीं ไม่ khong tidak salah onwaar nee niet keine kein`)
// Some people tick with a cross.
const crosses = list('✗ ✘ ✖ ✕ × ❌ ❎ ☒ 🚫 ⛔')
const nothing = list('- – — ? n/a n.a. na null unknown pending undefined none unbekannt inconnu')

const isOutCell = whole(outClear, outLoose)
const isInCell = whole(
  inClear,
  inLoose,
  'accepts?(?: \\w+){0,2}|(?:double|single|confirmed) opt ?in|active|aktiv|actif|activo|attivo|confirmed|granted|given|allowed|erteilt|(?:er|ge)wunscht|ok',
)
const isOutStart = new RegExp(`^(?:${outLoose})(?: |$)`, 'u')
const isRevoked =
  /(?:^| )(?:revoked|withdr(?:awn|ew)|widerrufen|zuruckgezogen|abgelaufen|expired|revoque|retire|revocado|retirado|revogado|revocato|ritirato|ingetrokken|wycofan\w*|odwolan\w*)(?: |$)/
const notOut = new RegExp(
  `(?:^| )(?:no|not|never|nicht|non|pas|nao|niet|nie|ikke|inte|не) (?:been |yet |noch )?(?:${outClear}|отпис\\p{L}*)(?: |$)`,
  'u',
)
const isDenied = /^(?:not|no|never|nicht|kein\w*|pas|non|nao|niet|geen|nie|ikke|inte|ej|brak|ei|не|нет|без) /

/** Whether a column of such cells holds answers. */
export const isAnswer = (cell: string): boolean => {
  const plain = plainOf(cell)
  return yes.has(plain) || no.has(plain) || crosses.has(plain)
}

/** The meaning of a cell in a column where a yes means `sign`; null if it is unclear. */
export function readSign(cell: string, sign: Sign): Sign | 'nothing' | null {
  const text = cell.trim().toLowerCase()
  if (text === '' || nothing.has(text) || /^0{2,4}([-./]0{2}){2}/.test(text)) return 'nothing'
  const plain = plainOf(cell)
  // A no never opts in, in either kind of column.
  if (yes.has(plain)) return sign
  if (no.has(plain)) return sign === 'in' ? 'out' : 'nothing'
  if (crosses.has(plain)) return sign === 'in' ? 'out' : null
  const clauses = clausesOf(cell)
  if (clauses.some(saysOut)) return 'out'
  if (clauses.some((clause) => notOut.test(clause))) return sign === 'out' && clauses.length === 1 ? 'nothing' : null
  const [first = ''] = clauses
  const [word = ''] = first.split(' ')
  if (no.has(word) || isDenied.test(first)) {
    if (sign === 'in') return 'out'
    // A no with more words is unclear, unless the rest is a date.
    return isDate(text) ? 'nothing' : null
  }
  if (sign === 'out' && word.length > 1 && yes.has(word)) return 'out'
  // A later no revokes what precedes it.
  if (clauses.some((clause) => no.has(clause) || isDenied.test(clause))) return sign === 'in' ? 'out' : null
  const said = readStanding(cell)
  if (said) return said
  return isDate(text) ? sign : null
}

/** The consent that a status word states, in any column; null if it is not a status word. */
export function readStanding(cell: string): Sign | null {
  const words = wordsOf(cell).join(' ')
  if (isOutCell.test(words) || outLooseOther.test(words) || saysOutClearly(cell)) return 'out'
  return isInCell.test(words) || inClearOther.test(words) || inLooseOther.test(words) ? 'in' : null
}

/** Whether a cell opts a person out beyond doubt, in any column. */
export const saysOutClearly = (cell: string): boolean => clausesOf(cell).some(isClearlyOut)

const isClearlyOut = (clause: string): boolean =>
  (isOutClear.test(clause) || outClearOther.test(clause)) && !notOut.test(clause)

const saysOut = (clause: string): boolean =>
  isClearlyOut(clause) || isOutStart.test(clause) || isRevoked.test(clause) || outLooseOther.test(clause)

/** The clauses of a cell, as words. Longer texts are not answers. */
const clausesOf = (cell: string): string[] =>
  cell
    .slice(0, 500)
    .split(/[,;:()|\n]|\s[-–—/]+\s|\.\s/)
    .map((part) => wordsOf(part).join(' '))
    .filter((clause) => clause !== '')

function plainOf(cell: string): string {
  // Phones add a variation selector that colors symbols.
  const text = cell.slice(0, 500).replaceAll('\uFE0F', '')
  return wordsOf(text).join(' ') || text.trim().toLowerCase()
}

/**
 * Recognizes dates as people write them: a four-digit year with two numbers or a month, `5-Jan-26`, a spreadsheet's day number, or seconds since
 * 1970.
 */
function isDate(text: string): boolean {
  if (/^(?:\d{5}(?:\.\d+)?|1\d{9}(?:\d{3})?)$/.test(text)) return true
  if (text.length > 60 || !/(^|\D)(19|20)\d\d(\D|$)|^(19|20)\d{6}/.test(text))
    return /^\d{1,2}[ ./-](?:\d{1,2}|\p{L}{3,9})[ ./-]\d{2}(?: |$)/u.test(text)
  return /\d[./\-年]\s?\d|\p{L}{3}/u.test(text)
}
