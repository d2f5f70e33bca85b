/** Templates of the generic adapter: texts with `{{field}}`, each value escaped for its place. */
import { showNumber, validitySeconds, type OutMessage, type Secrets } from './adapter.ts'

/** A message in templates: `encoding` is the carrier's word. */
export type TemplateMessage = Omit<OutMessage, 'encoding'> & { encoding: string }

const validityMaxSeconds = 172_800

/** Fields of a message in templates, besides `secret.<name>`; null: it has no value. */
const fields: Readonly<Record<string, (message: TemplateMessage) => string | number | null>> = {
  to: ({ to }) => to,
  to_e164: ({ to }) => showNumber(to),
  from: ({ from }) => from,
  from_e164: ({ from }) => from && showNumber(from),
  text: ({ text }) => text,
  id: ({ reference }) => reference,
  encoding: ({ encoding }) => encoding,
  segments: ({ segments }) => segments,
  receipt_url: ({ receiptUrl }) => receiptUrl,
  expires_at: ({ expiresAt }) => expiresAt && expiresAt.toISOString(),
  validity_seconds: (message) => validitySeconds(message, 1, validityMaxSeconds),
}
const fieldOf = (name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined)

const field = /\{\{\s*([^{}]*?)\s*\}\}/g
const secretName = /^secret\.([a-z][a-z0-9_]{0,39})$/

/** Errors of a template, phrased to follow its name; empty if valid. `secrets` are those that are set. */
export function checkTemplate(template: string, secrets: Secrets): string[] {
  const rest = template.replaceAll(field, '')
  const unknown = [...template.matchAll(field)].flatMap(([, name = '']) => {
    const [, secret] = secretName.exec(name) ?? []
    if (secret !== undefined)
      return secrets[secret] === undefined ? [`names the secret ${secret}, which is not set`] : []
    return fieldOf(name) ? [] : [`has no field ${name}; there are ${Object.keys(fields).join(', ')} and secret.<name>`]
  })
  return /\{\{|\}\}/.test(rest) ? [...unknown, 'has braces that do not close'] : unknown
}

/** `escape` makes each value safe for its place; a field without a value is empty. */
export function fillTemplate(
  template: string,
  message: TemplateMessage,
  secrets: Secrets,
  escape: (value: string) => string = (value) => value,
): string {
  return template.replaceAll(field, (_, name: string) => {
    const [, secret] = secretName.exec(name) ?? []
    if (secret !== undefined) return escape(secrets[secret] ?? '')
    return escape(String(fieldOf(name)?.(message) ?? ''))
  })
}

/** Fills the texts of a JSON document, but not its member names. */
export function fillJson(value: unknown, message: TemplateMessage, secrets: Secrets): unknown {
  if (typeof value === 'string') return fillTemplate(value, message, secrets)
  if (Array.isArray(value)) return value.map((one) => fillJson(one, message, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillJson(one, message, secrets)]))
}

/** The texts in a JSON document, with their paths. */
export function textsOf(value: unknown, path: string[] = []): { path: string[]; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, [...path, name]))
}

/** Escapes a value for XML text and attributes (XML 1.0 §2.4); characters that XML forbids become U+FFFD. */
export function escapeXml(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll(/\p{Cc}/gu, (one) => (/[\t\n\r]/.test(one) ? one : '\uFFFD'))
}
