/** Finds a table's number column by its name and its cells. */
import { plainName, wordsOf } from './names.ts'

/** Names of number columns, best first. Mobile comes before possible landlines. */
const exact: readonly (readonly string[])[] = [
  // A mobile number.
  `
    mobile mobilenumber mobileno mobilephone mobilephonenumber cell cellphone cellnumber cellphonenumber msisdn gsm gsmnummer handy handynummer handynr
    mobil mobilnummer mobilnr mobiltelefon mobilfunk mobilfunknummer telefonmobil portable telportable telephoneportable telmobile telephonemobile
    numeroportable movil telefonomovil celular numerocelular telefonocelular telefonecelular telemovel cellulare telefonocellulare numerocellulare mobiel
    mobielnummer mobieletelefoon komorka telefonkomorkowy numerkomorki matkapuhelin ceptelefonu cep cepno мобильный мобильныи мобильныйтелефон
    мобильныителефон сотовый сотовыи мобільний мобільнии мобілен мобилен мобилни κινητο κινητοτηλεφωνο جوال الجوال رقمالجوال موبايل המספרהנייד נייד
    טלפוןנייד मोबाइल मोबाइलनंबर มือถือ เบอร์มือถือ didong sodidong hp nohp nomorhp 携帯 携帯電話 携帯番号 携帯電話番号 手机 手机号 手机号码 手機 手機號碼 行動電話 휴대폰 휴대폰번호 휴대전화 휴대전화번호 핸드폰
    핸드폰번호
  `,
  // A number of any kind.
  `
    phone phonenumber phoneno telephone telephonenumber tel telno contactnumber contactno phone1value whatsapp whatsappnumber sms smsnumber smsphone smsphonenumber
    telefon telefonnummer telefonnr rufnummer telnr telefono numerodetelefono numerotelefono numeroditelefono telefone numerodetelefone numerotelephone
    numerodetelephone telefoon telefoonnummer numertelefonu nrtelefonu telefonszam puhelin puhelinnumero telefonnumarasi telefonno telefonicislo
    telefonnicislo numardetelefon nrtelefon tlf tlfnr телефон номертелефона номертелефону тел телефоненномер τηλεφωνο αριθμοςτηλεφωνου هاتف رقمالهاتف
    الهاتف טלפון מספרטלפון फोन फोननंबर โทรศัพท์ เบอร์โทร เบอร์โทรศัพท์ dienthoai sodienthoai sdt nomortelepon notelepon telepon notelp 電話 電話番号 电话 电话号码
    電話號碼 전화 전화번호
  `,
  // A number of something.
  `
    to number recipient destination numero nummer номер number1
  `,
].map((names) => names.trim().split(/\s+/).map(plainName))

const rankOfName = new Map(exact.flatMap((names, rank) => names.map((name) => [name, rank] as const)))

// Words of a longer name, such as `Customer Mobile #1`.
const mobileWords =
  /^(mobile|mob|cell|cellphone|cellular|handy|mobil|movil|celular|cellulare|telemovel|portable|mobiel|gsm|мобил\p{L}*|мобіл\p{L}*)$/u
const phoneWords =
  /^(phone|phones|telephone|tel|telefon|telefono|telefone|telefoon|rufnummer|телефон|телефону|телефона|msisdn)$/u
const landWords =
  /^(home|house|business|work|office|company|landline|festnetz|privat|fixe|fijo|fixo|casa|other|main|assistant|pager|radio|domicile|bureau|oficina)$/
const otherWords =
  /^(label|type|typ|verified|verification|opt|optin|optout|optedin|optedout|consent|country|code|prefix|vorwahl|carrier|provider|operator|extension|ext|fax|telefax|telex|status|valid|date|model|brand|count|of|at|reason|calls?|time|app|user|users|dnd|stop|contact|allow|allowed|accepts?|marketing|subscribed|unsubscribed|plan|os|device)$/

/** The rank of a name, from 0; null: it does not name numbers. */
function rankOf(name: string): number | null {
  // Our own name; other programs have `Phone Number` beside `Mobile Phone Number`.
  if (name.trim() === 'phone_number') return -1
  const known = rankOfName.get(plainName(name))
  if (known !== undefined) return known
  const words = wordsOf(name)
  if (words.some((word) => otherWords.test(word))) return null
  if (words.some((word) => mobileWords.test(word))) return exact.length
  if (!words.some((word) => phoneWords.test(word))) return null
  return words.some((word) => landWords.test(word)) ? exact.length + 2 : exact.length + 1
}

export const isNumberName = (name: string): boolean => rankOf(name) !== null

/** Whether a cell may be a number in any notation: two of them, with an extension, or as a spreadsheet shows long ones. */
export function looksLikeNumber(cell: string): boolean {
  const text = cell.slice(0, 100)
  const digits = text.match(/\p{Nd}/gu)?.length ?? 0
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (digits < 7) return /^\s*'?\+?\d+([.,]\d+)?E\+?\d+\s*$/i.test(text)
  // Dates and times have their own signs.
  return letters * 2 <= digits && !/^\s*\d{4}-\d\d-\d\d|^\s*\d{1,2}[./]\d{1,2}[./]\d{4}|\d\d:\d\d/.test(text)
}

/** Scores a column by its cells. */
function fitOf(at: number, rows: readonly string[][]): 'numbers' | 'nothing' | 'others' {
  let filled = 0
  let numbers = 0
  for (const row of rows) {
    const cell = row[at] ?? ''
    if (cell.trim() === '') continue
    filled++
    if (looksLikeNumber(cell)) numbers++
  }
  if (filled === 0) return 'nothing'
  return numbers * 3 >= filled ? 'numbers' : 'others'
}

/** The number column, and others with numbers, among those that are `isFree`; `at` is null if no name fits. */
export function findNumberColumn(
  header: readonly string[],
  rows: readonly string[][],
  isFree: (at: number) => boolean,
): { at: number | null; others: number[] } {
  const order = { numbers: 0, nothing: 1, others: 1 }
  const found = header.flatMap((name, at) => {
    const rank = isFree(at) ? rankOf(name) : null
    if (rank === null) return []
    const fit = fitOf(at, rows)
    // Numbers in some exports, and yes or no in others.
    return plainName(name) === 'sms' && fit !== 'numbers' ? [] : [{ at, rank, fit }]
  })
  found.sort((a, b) => order[a.fit] - order[b.fit] || a.rank - b.rank || a.at - b.at)
  const [best, ...rest] = found
  const others = rest.filter(({ fit }) => fit === 'numbers').map(({ at }) => at)
  return { at: best?.at ?? null, others: others.sort((a, b) => a - b) }
}

/** Columns whose cells are numbers, whatever their name. */
export function findNumbers(header: readonly string[], rows: readonly string[][]): number[] {
  return header.flatMap((_, at) => (fitOf(at, rows) === 'numbers' ? [at] : []))
}
