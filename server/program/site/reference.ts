/** Describes the API by the schemas that validate: OpenAPI 3.1 at /v1/openapi.json, and a page to read and try it. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { RouteOptions } from 'fastify'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { Type, type TSchema } from 'typebox'
import { errorKinds, fieldErrors } from '../../ground/base/errors.ts'
import { eventSchema, eventTypes, type EventType } from '../../events/event-types.ts'
import { matchesTag } from '../../accounts/change-settings.ts'
import { exactly, problems, type App } from '../../ground/http/http.ts'
import { nameComponents } from './components.ts'

/** Call it before the routes are registered. */
export async function registerReference(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Heliogram',
        version: 'v1',
        description:
          'Text messages over your own carrier links. Errors are problem documents (RFC 9457): use `code` in programs. Every response has `X-Request-Id`. Unknown fields are refused, never ignored, and so is a name that an object has twice. New fields, event types and enum values may be added at any time; nothing else changes within v1.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or the access token of a login.' },
          basic: { type: 'http', scheme: 'basic', description: 'The client credentials of a login.' },
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
      css: [{ filename: 'heliogram.css', content: readFileSync(new URL('reference.css', import.meta.url), 'utf8') }],
    },
    logo: { type: 'image/svg+xml', content: logo, href: '/', target: '_self' },
    // All content is ours. The page's script adds one inline style.
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    validatorUrl: false,
  })
  const config = { scope: null }
  let served: { text: string; packed: Buffer; tag: string } | undefined
  app.get('/v1/openapi.json', { config, schema: { hide: true } }, (request, reply) => {
    served ??= serve(JSON.stringify(app.swagger()))
    // Weak, because the compressed form shares it (RFC 9110 §8.8.1).
    reply.headers({ etag: `W/${served.tag}`, 'cache-control': 'no-cache', vary: 'accept-encoding' })
    if (matchesTag(request.headers['if-none-match'], served.tag)) return reply.code(304).send()
    reply.type('application/json; charset=utf-8')
    const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    return isPacked ? reply.header('content-encoding', 'gzip').send(served.packed) : reply.send(served.text)
  })
}

const serve = (text: string): { text: string; packed: Buffer; tag: string } => ({
  text,
  packed: gzipSync(text),
  tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
})

/** Adds a route's scope, its idempotency header, and the errors of its body. */
function describeRoute(given: Record<string, unknown>, route: RouteOptions): Record<string, unknown> {
  const scope = route.config?.scope
  const methods = [route.method].flat()
  const takesBody = methods.some((method) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
  const takesKey = scope && takesBody && !route.config?.isKeyless
  const { 409: inProgress, 413: tooLarge, 415: otherType } = problems(409, 413, 415)
  const refusals = { ...(takesKey && { 409: inProgress }), 413: tooLarge, 415: otherType }
  const response = given['response'] as object | undefined
  const schema = takesBody
    ? {
        ...given,
        ...(given['body'] !== undefined && { body: asSent(given['body']) }),
        response: { ...refusals, ...response },
      }
    : given
  // Explicit for open routes, because silence looks like an oversight.
  if (!scope) return { security: [], ...schema }
  const { properties: headers = {} } = (given['headers'] ?? {}) as { properties?: Record<string, TSchema> }
  const asked =
    route.config?.needsConfirmation && 'A login must confirm its password if it was typed more than an hour ago.'
  const description = [given['description'], asked, `Scope: \`${scope}\`.`].filter(Boolean).join('\n\n')
  return {
    ...schema,
    description,
    // Roles, for a scheme other than OAuth 2.0 (OpenAPI 3.1, Security Requirement Object).
    security: [{ bearer: [scope] }],
    ...(takesKey && {
      headers: Type.Object({
        'Idempotency-Key': Type.Optional(Type.String({ description: keyText, maxLength: 255 })),
        ...headers,
      }),
    }),
  }
}

/** A schema for senders: fields with defaults are optional, and checks by the route are described. */
function asSent(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asSent)
  if (typeof schema !== 'object' || schema === null) return schema
  if (exactly in schema) return asSent(schema[exactly])
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, asSent(value)]),
  )
  const { required, properties } = schema as { required?: unknown; properties?: Record<string, object> }
  return Array.isArray(required) && properties
    ? { ...copy, required: required.filter((name: string) => !('default' in (properties[name] ?? {}))) }
    : copy
}

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="150" height="40"><text y="28" font-family="sans-serif" font-size="24" font-weight="700" fill="#fbbf24">Heliogram</text></svg>`

const keyText =
  'Makes the request safe to repeat: it takes effect once, and a repeated request gets the first response.'

interface Description {
  paths: Record<string, unknown>
  components: { schemas: Record<string, unknown> }
  webhooks?: Record<string, unknown>
}

/** Adds webhook events, and sorts unordered parts. */
function complete(document: Description): Description {
  const sorted = <T>(record: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
  document.components.schemas = sorted(document.components.schemas)
  document.paths = sorted(document.paths)
  tellCodes(document)
  document.webhooks = Object.fromEntries(
    Object.entries(eventTypes).map(([type, { sentence }]) => [
      type,
      {
        post: {
          operationId: `on_${type.replace('.', '_')}`,
          summary: sentence,
          description:
            'Signed according to Standard Webhooks 1.0. A webhook with `batch` gets `{"events": […]}` with several of any type.',
          tags: ['Events'],
          security: [],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: referring(eventSchema(type as EventType)) } },
          },
          responses: {
            '2XX': { description: 'Received. Anything else is retried.' },
            '410': { description: 'Disables the webhook.' },
          },
        },
      },
    ]),
  )
  nameComponents(document as never)
  return document
}

// For responses whose schema has no description.
const words: Record<string, string> = {
  '200': 'Done.',
  '201': 'Created.',
  '202': 'Accepted.',
  '204': 'Done; there is no body.',
  '503': 'It is temporarily unavailable.',
}

/** Lists codes of each failure, and known problem codes as examples, because there may be more later. */
function tellCodes(document: Description): void {
  const { properties } = document.components.schemas['Problem'] as { properties: Record<string, Schema> }
  const ofField = properties['errors']?.items?.properties['code']
  if (properties['code']) properties['code'].examples = Object.keys(errorKinds)
  if (ofField) ofField.examples = Object.keys(fieldErrors)
  const codesOf = Object.groupBy(Object.entries(errorKinds), ([, { status }]) => String(status))
  for (const item of Object.values(document.paths))
    for (const { responses } of Object.values(item as Record<string, { responses: Record<string, Answer> }>))
      for (const [status, answer] of Object.entries(responses)) {
        const codes = codesOf[status]?.map(([code]) => `\`${code}\``)
        if (codes && answer.content?.['application/problem+json']) answer.description = codes.join(', ')
        else if (answer.description === 'Default Response') answer.description = words[status] ?? ''
      }
}

interface Schema {
  examples?: string[]
  items?: { properties: Record<string, Schema> }
}

interface Answer {
  description: string
  content?: Record<string, unknown>
}

function referring(schema: object): unknown {
  const text = JSON.stringify(schema).replace(/"\$ref":"(\w+)"/g, '"$ref":"#/components/schemas/$1"')
  return JSON.parse(text)
}
