/** Explains error codes: `GET /v1/errors`, and a page per code. */
import { Type } from 'typebox'
import { ApiError, errorKinds, fieldErrors } from '../../ground/base/errors.ts'
import { problems, type App } from '../../ground/http/http.ts'
import { escapeHtml, sendPage } from './welcome.ts'

/** By `error.code` of a message. */
export type MessageErrors = Record<string, { title: string; advice: string; isPermanent: boolean }>

const FieldErrorEntry = Type.Object({ code: Type.String(), title: Type.String(), url: Type.String() })
const ErrorEntry = Type.Object({
  code: Type.String(),
  status: Type.Integer(),
  title: Type.String(),
  advice: Type.String(),
  retryable: Type.Boolean(),
  url: Type.String(),
})
const MessageErrorEntry = Type.Object({
  code: Type.String(),
  title: Type.String(),
  advice: Type.String(),
  permanent: Type.Boolean(),
  url: Type.String(),
})

/** Registers codes of responses, fields and messages; the last come from the caller. */
export function errorRoutes(app: App, messageErrors: MessageErrors): void {
  const url = (code: string): string => `/docs/errors/${code}`
  const registry = {
    data: Object.entries(errorKinds).map(([code, kind]) => ({ code, ...kind, url: url(code) })),
    fields: Object.entries(fieldErrors).map(([code, title]) => ({ code, title, url: url(code) })),
    messages: Object.entries(messageErrors).map(([code, { isPermanent, ...kind }]) => ({
      code,
      ...kind,
      permanent: isPermanent,
      url: url(code),
    })),
  }
  const config = { scope: null }
  const response = {
    ...problems(),
    200: Type.Object({
      data: Type.Array(ErrorEntry),
      fields: Type.Array(FieldErrorEntry),
      messages: Type.Array(MessageErrorEntry),
    }),
  }
  app.get(
    '/v1/errors',
    { config, schema: { operationId: 'listErrors', summary: 'List error codes', tags: ['Service'], response } },
    () => registry,
  )
  app.get('/docs/errors', { config, schema: { hide: true } }, (_request, reply) =>
    sendPage(reply, 'Errors', renderErrors(registry)),
  )
  app.get('/docs/errors/:code', { config, schema: { hide: true } }, (request, reply) => {
    const { code } = request.params as { code: string }
    const meanings = renderMeanings(code, registry)
    if (meanings === '') throw new ApiError('not_found', { detail: `There is no error code ${code}.` })
    return sendPage(reply, code, `<h1>${breakable(code)}</h1>${meanings}<p><a href="/docs/errors">All errors</a></p>`)
  })
}

interface Registry {
  data: { code: string; status: number; title: string; advice: string; retryable: boolean }[]
  fields: { code: string; title: string }[]
  messages: { code: string; title: string; advice: string; permanent: boolean }[]
}

function renderErrors({ data, fields, messages }: Registry): string {
  const cells = (code: string, ...texts: string[]): string =>
    `<tr><td><a href="/docs/errors/${code}">${breakable(code)}</a></td>${texts.map((text) => `<td>${escapeHtml(text)}</td>`).join('')}</tr>`
  return `<h1>Errors</h1><table><tr><th>code</th><th>status</th><th>meaning</th></tr>${data.map(({ code, status, title }) => cells(code, String(status), title)).join('')}</table>
<h2>Single fields, under validation_failed</h2><table>${fields.map(({ code, title }) => cells(code, title)).join('')}</table>
<h2>Messages, in their error</h2><table>${messages.map(({ code, title }) => cells(code, title)).join('')}</table><p><a href="/docs">Manual</a></p>`
}

/** All meanings of a code, each with its place: a response, a field and a message may share one. Empty for an unknown code. */
function renderMeanings(code: string, { data, fields, messages }: Registry): string {
  const isThis = (one: { code: string }): boolean => one.code === code
  const of = (lead: string, title: string, text = ''): string =>
    `<p class="lead">${lead} · ${escapeHtml(title)}</p>${text && `<p>${withCode(escapeHtml(text))}</p>`}`
  return [
    ...data.filter(isThis).map(({ status, title, advice, retryable }) => {
      const repeat = retryable ? 'The same request can succeed later.' : 'The same request will fail again.'
      return of(String(status), title, `${advice} ${repeat}`)
    }),
    ...fields.filter(isThis).map(({ title }) => of('A field, under 422 validation_failed', title)),
    ...messages.filter(isThis).map(({ title, advice, permanent }) => {
      const repeat = permanent
        ? 'The same message to the same number will fail again.'
        : 'The same message may arrive another time.'
      return of('The error of a message', title, `${advice} ${repeat}`)
    }),
  ].join('')
}

/** A code may wrap after each word: narrow screens have no room for long ones. */
const breakable = (code: string): string => code.replaceAll('_', '_<wbr>')

function withCode(html: string): string {
  return html.replace(/`([^`]+)`/g, '<code>$1</code>')
}
