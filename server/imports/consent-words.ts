/** Words by which other programs and people say that somebody wants messages or not: names of columns, and what is in their cells. */
import { wordsOf } from '../ground/tables/names.ts'

/** What a cell or a column says. */
export type Sign = 'in' | 'out'

const phrases = (text: string): string =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .join('|')

// Without accents, as `wordsOf` has them; parts of words where a language inflects them.
const outLatin = phrases(String.raw`
  (?:has )?opt(?:ed|s)? ?out(?: of sms| sms)?|unsubscri\w*|unsub|do not (?:contact|call|text|sms|disturb|message|mail|send|market)|don ?t (?:contact|call|text|send)
  dnd|dncr?|dnt|stop(?:ped|all)?|blocked|black ?list(?:ed)?|block ?list(?:ed)?|suppress(?:ed|ion)?|no (?:sms|texts?|marketing|contact|messages)|never (?:contact|text)
  revoked|withdrawn|withdrew|declined|denied|refused|removed|complained|complaint|not subscribed|never subscribed|non ?subscribed|left
  abgemeldet|abmeldung|widersprochen|widerspruch|widerrufen|widerruf|gesperrt|sperre|sperrvermerk|werbesperre|kontaktsperre|ausgetragen|nicht (?:kontaktieren|anschreiben)|keine (?:sms|werbung)
  desinscri\w*|desabonn\w*|ne pas (?:contacter|deranger)|opposition|refus|refuse|bloctel
  baja|dado de baja|fecha de baja|no (?:contactar|molestar|llamar|enviar)|desuscrito|excluido
  descadastr\w*|nao (?:contatar|contactar|perturbe|perturbar|enviar)|cancelou(?: inscricao)?|recusou|cancelado
  disiscri\w*|non (?:contattare|disturbare)|opposizione|uitgeschreven|afgemeld|niet (?:contacteren|benaderen|storen)
  wypisan\w*|rezygnacja|zrezygnowal\w*|nie (?:kontaktowac|dzwonic|wysylac)|sprzeciw|wycofana|odwolana
  avregistrerad|avanmald|kontakta ej|sparrad|afmeldt|frameldt|avmeldt|reserver(?:t|ad)|(?:markkinointi)?kielto|kielletty|peruutettu
  abonelikten cikti|iptal|rahatsiz etme\w*|aranmasin|ret|reddetti|odhlasen\w*|nekontaktovat|neposilat|leiratkoz\w*|dezabonat|nu contactati
  huy dang ky|tu choi|berhenti berlangganan|jangan (?:hubungi|ganggu)`)
const outOther =
  /отписа|отписк|не беспокоить|не звонить|не писать|не отправлять|отказ|отозван|черныи список|відпис|відмова|не турбувати|чорнии список|διαγραφ|απεγγραφ|μην επικοινων|配信停止|退会|オプトアウト|送信禁止|連絡不可|拒否|退订|退訂|勿扰|勿擾|拒收|黑名单|黑名單|수신 ?거부|거부|إلغاء الاشتراك|عدم الإزعاج|הסרה|הוסר|डीएनडी|ยกเลิก|ห้ามติดต่อ/u
const inLatin = phrases(String.raw`
  opt(?:ed|s)? ?in|(?:has )?consent(?:ed)?(?: given| status)?|subscribed|subscriber|subscription|accepts?(?: \w+){0,2}|permission|gdpr|dsgvo|agreed?|accepted|can (?:text|contact|sms)|sms (?:ok|allowed|marketing)
  einwilligung|zustimmung|eingewilligt|zugestimmt|angemeldet|einverstanden|werbeeinwilligung|consentement|abonne|inscrit|accord|consentimiento|suscrito|acepta|autoriza
  consentimento|inscrito|aceita|autorizado|consenso|iscritto|toestemming|aangemeld|ingeschreven|zgoda|samtycke|samtykke|suostumus|onay|izin|souhlas|hozzajarulas|feliratkozott|consimtamant|abonat|dong y|persetujuan`)
const inOther =
  /соглас|подписан|подписк|подписался|згода|συγκαταθεσ|συναινεσ|同意|配信許可|订阅|訂閱|동의|موافقة|הסכמה|ยินยอม|सहमति/u

const isOutName = new RegExp(`(?:^| )(?:${outLatin})(?: |$)`)
const isInName = new RegExp(`(?:^| )(?:${inLatin})(?: |$)`)
const isOutCell = new RegExp(`^(?:${outLatin})$`)
const isInCell = new RegExp(`^(?:${inLatin}|active|aktiv|actif|activo|attivo|confirmed|granted|allowed|ok)$`)
const otherChannel = /(?:^| )(?:e ?mails?|mailing|newsletter|post|postal|fax|push|cookies?|whatsapp)(?: |$)/
const ownChannel = /(?:^| )(?:sms|mms|texts?|mobile|messages?)(?: |$)/

/** What a column of this name says with a yes; `isOther`: of e-mail and its like. Null: nothing of the kind. */
export function signOfName(name: string): { sign: Sign; isOther: boolean } | null {
  const words = wordsOf(name).join(' ')
  const isOut = isOutName.test(words) || outOther.test(words)
  if (!isOut && !isInName.test(words) && !inOther.test(words)) return null
  return { sign: isOut ? 'out' : 'in', isOther: otherChannel.test(words) && !ownChannel.test(words) }
}

/** Says that a column of this name has where people are: subscribed, unsubscribed … */
export const isStatusName = (name: string): boolean =>
  wordsOf(name).some((word) => /^(status|state|stand|statut|estado|stato|статус|状态|狀態|상태|ステータス)$/.test(word))

const list = (text: string): Set<string> => new Set(text.trim().split(/\s+/))
const yes = list(`
  yes y true t 1 x on ok v ✓ ✔ ☑ ✅ ja j wahr oui o vrai si s verdadero vero sim verdadeiro sand sann tak prawda ano pravda igen igaz da adevarat evet e dogru
  nai ναι kylla tosi да д истина так істина є はい 是 有 对 真 예 네 نعم כן हाँ हां ใช่ co ya benar waar jah taip ja`)
const no = list(`
  no n false f 0 off nein falsch non faux falso nao nej falsk nei usann nie falsz ne nepravda nem hamis nu fals hayir h yanlis οχι ei epatosi нет н ложь ні хибність
  いいえ 否 不 无 無 假 아니오 아니요 لا לא नहीं ไม่ khong tidak salah onwaar ei ne`)
const nothing = list('- – — ? n/a na null unknown pending undefined none unbekannt inconnu')

/** What a cell says in a column where a yes means `sign`: in, out or nothing; null where it cannot be told. */
export function readSign(cell: string, sign: Sign): Sign | 'nothing' | null {
  const text = cell.trim().toLowerCase()
  if (text === '' || nothing.has(text) || text.startsWith('0000-00-00')) return 'nothing'
  const words = wordsOf(cell).join(' ')
  const plain = words === '' ? text : words
  // A word that says no, in either kind of column: nobody is let in by a no.
  if (yes.has(plain)) return sign
  if (no.has(plain)) return sign === 'in' ? 'out' : 'nothing'
  const said = readStanding(cell)
  if (said) return said
  return isDate(text) ? sign : null
}

/** What a word says of where somebody is, whatever its column; null where it is no such word. */
export function readStanding(cell: string): Sign | null {
  const words = wordsOf(cell).join(' ')
  if (isOutCell.test(words) || outOther.test(words)) return 'out'
  return isInCell.test(words) || inOther.test(words) ? 'in' : null
}

/** A date as people write it: with a year of four digits and two numbers or a month, or a spreadsheet's number of days. */
function isDate(text: string): boolean {
  if (/^\d{5}(\.\d+)?$/.test(text)) return true
  if (text.length > 60 || !/(^|\D)(19|20)\d\d(\D|$)|^(19|20)\d{6}/.test(text))
    return /^\d{1,2}[./-]\d{1,2}[./-]\d{2}$/.test(text)
  return /\d[./\-年]\s?\d|\p{L}{3}/u.test(text)
}
