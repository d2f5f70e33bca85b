/** The API described by the very schemas that validate: OpenAPI 3.1 at /v1/openapi.json, a page to read and try it, and the errors. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { RouteOptions } from 'fastify'
import { Type } from 'typebox'
import { ApiError, errorKinds, fieldErrors, type ErrorCode } from './errors.ts'
import { eventTypes } from './events.ts'
import { problems, type App } from './http.ts'
import { escapeHtml, sendPage } from './welcome.ts'

/** Registers the description and its pages; before the routes it describes. */
export async function registerReference(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Heliogram',
        version: 'v1',
        description:
          'Text messages over your own carrier links. Errors are problem documents (RFC 9457): branch on `code`. Every answer has `X-Request-Id`. ' +
          'Fields that do not exist are refused, never ignored; of members with the same name in a JSON object the last counts. ' +
          'New fields, event types and enum values may be added at any time; nothing else changes within v1.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or the access token of a login.' },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `def-${i}`),
    },
    transform: ({ schema, url, route }) => ({ schema: describeRoute({ ...schema }, route), url }),
    transformObject: (document) =>
      ('openapiObject' in document ? complete(document.openapiObject as Description) : document.swaggerObject) as never,
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs/reference',
    uiConfig: {
      url: '/v1/openapi.json',
      deepLinking: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
    },
    theme: {
      title: 'Heliogram API',
      // The page describes this installation and nothing else.
      css: [{ filename: 'heliogram.css', content: '.swagger-ui .topbar .download-url-wrapper { display: none }' }],
    },
    logo: { type: 'image/svg+xml', content: logo, href: '/', target: '_self' },
    // Everything comes from here. The page brings one style of its own, in its script.
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    validatorUrl: false,
  })
  const config = { scope: null }
  let text: string | undefined
  app.get('/v1/openapi.json', { config, schema: { hide: true } }, (_request, reply) => {
    text ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(text)
  })
  app.get(
    '/v1/errors',
    {
      config,
      schema: {
        operationId: 'listErrors',
        summary: 'Every error code',
        tags: ['Service'],
        response: {
          ...problems(),
          200: Type.Object({ data: Type.Array(ErrorEntry), fields: Type.Array(FieldErrorEntry) }),
        },
      },
    },
    () => registry,
  )
  app.get('/docs/errors', { config, schema: { hide: true } }, (_request, reply) =>
    sendPage(reply, 'Errors', renderErrors()),
  )
  app.get('/docs/errors/:code', { config, schema: { hide: true } }, (request, reply) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(errorKinds, code)) throw new ApiError('not_found', { detail: `There is no error code ${code}.` })
    return sendPage(reply, code, renderError(code as ErrorCode))
  })
}

const ErrorEntry = Type.Object({
  code: Type.String(),
  status: Type.Integer(),
  title: Type.String(),
  advice: Type.String(),
  retryable: Type.Boolean(),
  url: Type.String(),
})
const FieldErrorEntry = Type.Object({ code: Type.String(), title: Type.String() })

const registry = {
  data: Object.entries(errorKinds).map(([code, kind]) => ({ code, ...kind, url: `/docs/errors/${code}` })),
  fields: Object.entries(fieldErrors).map(([code, title]) => ({ code, title })),
}

/** The scope a route needs, the header that makes its repetition safe, and how any body is refused, as the document tells them. */
function describeRoute(given: Record<string, unknown>, route: RouteOptions): Record<string, unknown> {
  const scope = route.config?.scope
  const methods = [route.method].flat()
  const takesBody = methods.some((method) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
  const takesKey = scope && methods.some((method) => method === 'POST' || method === 'PATCH' || method === 'DELETE')
  const { 409: inProgress, 413: tooLarge, 415: otherType } = problems(409, 413, 415)
  const refusals = { ...(takesKey && { 409: inProgress }), 413: tooLarge, 415: otherType }
  const response = given['response'] as object | undefined
  const schema = takesBody ? { ...given, response: { ...refusals, ...response } } : given
  if (!scope) return schema
  const description = [given['description'], `Scope: \`${scope}\`.`].filter(Boolean).join('\n\n')
  return {
    ...schema,
    description,
    security: [{ bearer: [] }],
    ...(takesKey && {
      headers: Type.Object({ 'Idempotency-Key': Type.Optional(Type.String({ description: keyText, maxLength: 255 })) }),
    }),
  }
}

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="150" height="40"><text y="28" font-family="sans-serif" font-size="24" font-weight="700" fill="#fbbf24">Heliogram</text></svg>`

const keyText = 'Makes a repetition of the request safe: it takes place once, and the first answer is given again.'

interface Description {
  paths: Record<string, unknown>
  components: { schemas: Record<string, unknown> }
  webhooks?: Record<string, unknown>
}

/** Adds the events that we post, and puts what has no order of its own in a stable one. */
function complete(document: Description): Description {
  const sorted = <T>(record: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
  document.components.schemas = sorted({ Event, ...document.components.schemas })
  document.paths = sorted(document.paths)
  document.webhooks = Object.fromEntries(
    Object.entries(eventTypes).map(([type, { sentence }]) => [
      type,
      {
        post: {
          operationId: `on_${type.replace('.', '_')}`,
          summary: sentence,
          tags: ['Events'],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } },
          },
          responses: {
            '2XX': { description: 'Received. Anything else is tried again.' },
            '410': { description: 'Disables the endpoint.' },
          },
        },
      },
    ]),
  )
  return document
}

const Event = Type.Object(
  {
    id: Type.String({ description: 'The same at every try and replay; equals the webhook-id header.' }),
    type: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
    api_version: Type.String(),
    sequence: Type.Integer({ description: 'Grows with every event of a message: keep the highest.' }),
    data: Type.Object({}, { additionalProperties: true }),
  },
  { description: 'What we post to webhooks, signed as of Standard Webhooks 1.0.' },
)

function renderErrors(): string {
  const rows = registry.data.map(
    ({ code, status, title }) =>
      `<tr><td><a href="/docs/errors/${code}">${code}</a></td><td>${status}</td><td>${escapeHtml(title)}</td></tr>`,
  )
  const fields = registry.fields.map(({ code, title }) => `<tr><td>${code}</td><td>${escapeHtml(title)}</td></tr>`)
  return `<h1>Errors</h1><table><tr><th>code</th><th>status</th><th>meaning</th></tr>${rows.join('')}</table>
<h2>Single fields, under validation_failed</h2><table>${fields.join('')}</table><p><a href="/docs">Manual</a></p>`
}

function renderError(code: ErrorCode): string {
  const { status, title, advice, retryable } = errorKinds[code]
  const repeat = retryable ? 'The same request can succeed later.' : 'The same request will fail again.'
  return `<h1>${code}</h1><p class="lead">${status} · ${escapeHtml(title)}</p><p>${withCode(escapeHtml(advice))} ${repeat}</p><p><a href="/docs/errors">All errors</a></p>`
}

/** Text between backticks as code. */
function withCode(html: string): string {
  return html.replace(/`([^`]+)`/g, '<code>$1</code>')
}
