/** Reads the TwiML that answers an incoming message: its messages, and the errors of the rest. */

export interface AnswerFault {
  /** The element with the error; null for the whole answer. */
  element: string | null
  /** Its position in the answer, from 1. */
  position: number | null
  /** Twilio's error number. */
  code: number
  detail: string
}

/** A `<Message>` with its `Messages.json` parameters. */
export interface AnswerMessage {
  element: string
  position: number
  parameters: Partial<Record<'To' | 'From' | 'Body' | 'StatusCallback', string>>
}

interface Element {
  name: string
  attributes: Map<string, string>
  children: (Element | string)[]
}

// Numbers of https://www.twilio.com/docs/api/errors.
const notParsed = 12100
const notValid = 12200
const bodyMissing = 21602

const nameMax = 64
/** `<Sms>` is the element's name from before 2013. */
const messageNames = ['Message', 'Sms']
const attributeNames = ['to', 'from', 'action', 'method', 'statusCallback']

class NotTwiml extends Error {}

/** If the document cannot be parsed, it yields no messages. */
export function readTwiml(document: string): { messages: AnswerMessage[]; faults: AnswerFault[] } {
  const messages: AnswerMessage[] = []
  const faults: AnswerFault[] = []
  let root: Element
  try {
    root = parse(document)
  } catch (error) {
    if (!(error instanceof NotTwiml)) throw error
    return { messages, faults: [{ element: null, position: null, code: notParsed, detail: error.message }] }
  }
  let position = 0
  for (const child of root.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '')
        faults.push({ element: 'Response', position: null, code: notValid, detail: 'has text outside of <Message>' })
      continue
    }
    const found = messageNames.includes(child.name)
      ? readMessage(child)
      : { code: notValid, detail: 'is not supported: only <Message> is' }
    const place = { element: child.name.slice(0, nameMax), position: ++position }
    if ('detail' in found) faults.push({ ...place, ...found })
    else messages.push({ ...place, parameters: found })
  }
  return { messages, faults }
}

function readMessage(
  element: Element,
): AnswerMessage['parameters'] | { code: typeof notValid | typeof bodyMissing; detail: string } {
  const { attributes, children } = element
  const invalid = (detail: string) => ({ code: notValid, detail }) as const
  const unknown = [...attributes.keys()].find((name) => !attributeNames.includes(name))
  if (unknown !== undefined) return invalid(`has the attribute ${unknown.slice(0, nameMax)}, which is not supported`)
  if ((attributes.get('method') ?? 'POST').toUpperCase() !== 'POST') return invalid('has a method that is not POST')
  const [action, callback] = [attributes.get('action'), attributes.get('statusCallback')]
  if (action !== undefined && callback !== undefined && action !== callback)
    return invalid('has an action and a different statusCallback: use one')
  const elements = children.filter((child) => typeof child !== 'string')
  const other = elements.find(({ name }) => name !== 'Body')
  if (other) return invalid(`contains <${other.name.slice(0, nameMax)}>, which is not supported`)
  const [body] = elements
  const text = textOf(element)
  if (elements.length > 1 || (body && text !== '')) return invalid('has more than one text')
  if (body?.children.some((child) => typeof child !== 'string')) return invalid('has elements in its <Body>')
  const message = body ? textOf(body) : text
  if (message === '') return { code: bodyMissing, detail: 'has no text' }
  const [to, from, url] = [attributes.get('to'), attributes.get('from'), callback ?? action]
  return {
    Body: message,
    ...(to !== undefined && { To: to }),
    ...(from !== undefined && { From: from }),
    ...(url !== undefined && { StatusCallback: url }),
  }
}

/** Trimmed, because programs indent their documents. */
const textOf = ({ children }: Element): string =>
  children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim()

const name = '[A-Za-z_][\\w.:-]*'
const attribute = `\\s+${name}\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`
const tokens = [
  '(?:<!--[^]*?-->|<\\?[^]*?\\?>)',
  '<!\\[CDATA\\[(?<cdata>[^]*?)\\]\\]>',
  `</(?<close>${name})\\s*>`,
  `<(?<open>${name})(?<attributes>(?:${attribute})*)\\s*(?<empty>/?)>`,
  '(?<text>[^<]+)',
].join('|')

/** Parses a document without a DTD, in time linear in its length: an unclosed token ends the parsing. */
function parse(document: string): Element {
  const top: Element = { name: '', attributes: new Map(), children: [] }
  const open = [top]
  const token = new RegExp(tokens, 'y')
  const end = document.trimEnd().length
  while (token.lastIndex < end) {
    const at = token.lastIndex
    const groups = token.exec(document)?.groups
    const parent = open.at(-1) ?? top
    if (!groups && document.startsWith('<!DOCTYPE', at)) throw new NotTwiml('A document type is not allowed.')
    if (!groups) throw new NotTwiml(`It is not well-formed XML at character ${at + 1}.`)
    if (groups['open'] !== undefined) {
      const element = {
        name: groups['open'],
        attributes: readAttributes(groups['attributes'] ?? ''),
        children: [],
      }
      parent.children.push(element)
      if (groups['empty'] === '') open.push(element)
    } else if (groups['close'] !== undefined) {
      if (open.length === 1 || parent.name !== groups['close'])
        throw new NotTwiml(`</${groups['close'].slice(0, nameMax)}> closes no open element.`)
      open.pop()
    } else if (groups['cdata'] !== undefined) parent.children.push(checked(groups['cdata']))
    else if (groups['text'] !== undefined) parent.children.push(readEntities(groups['text']))
  }
  const last = open.at(-1) ?? top
  if (last !== top) throw new NotTwiml(`<${last.name.slice(0, nameMax)}> is not closed.`)
  const [root, ...more] = top.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  if (root === undefined || typeof root === 'string' || more.length > 0 || root.name !== 'Response')
    throw new NotTwiml('The one root element must be <Response>.')
  return root
}

function readAttributes(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, key = '', double, single] of text.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    if (found.has(key)) throw new NotTwiml(`An element has the attribute ${key.slice(0, nameMax)} twice.`)
    found.set(key, readEntities(double ?? single ?? ''))
  }
  return found
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function readEntities(text: string): string {
  return checked(
    text.replace(/&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|([a-z]{2,4});)?/g, (whole, decimal, hex, word) => {
      const point = decimal ? Number(decimal) : hex ? Number.parseInt(String(hex), 16) : null
      const isCharacter = point !== null && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
      const character = isCharacter ? String.fromCodePoint(point) : Object.hasOwn(named, word) ? named[word] : undefined
      if (character === undefined) throw new NotTwiml(`${whole} is not a valid XML character.`)
      return character
    }),
  )
}

/** Refuses characters outside XML 1.0 §2.2. */
function checked(text: string): string {
  if (/[^\t\n\r -\uFFFD\u{10000}-\u{10FFFF}]/u.test(text)) throw new NotTwiml('It contains an invalid XML character.')
  return text
}
