/** Bodies of carrier requests: validated by kind, and for HTTP by adapter, with all faults at once. */
import type { FastifySchemaCompiler } from 'fastify'
import { Type, type TObject, type TProperties, type TSchema } from 'typebox'
import { readNetworks } from '../accounts/networks.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { paceNumber } from '../ground/http/http.ts'
import { buildValidators } from '../ground/http/validate.ts'
import type { Adapter, Secrets } from '../http-carriers/adapter.ts'
import { adapters } from '../http-carriers/adapters.ts'
import { at, textAt } from '../http-carriers/fields.ts'
import { adapterNames, bindText, SmppSettings, type AdapterName, type HttpSettings } from '../links/carrier-settings.ts'

const strict = { additionalProperties: false } as const
const password = Type.String({
  maxLength: 64,
  pattern: bindText,
  description:
    'Password to bind with, in ASCII. It is sent as given, although SMPP 3.4 has 8 characters; stored encrypted and never shown.',
})
const common = {
  name: Type.String({ minLength: 1, maxLength: 60, description: 'Your name for it.' }),
  enabled: Type.Optional(Type.Boolean()),
  pace: Type.Optional(paceNumber('Segments a second that the carrier allows.')),
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, description: 'Lower values are used first.' })),
}

const SmppBody = Type.Object(
  { ...common, kind: Type.Optional(Type.Enum(['smpp', 'http'])), settings: SmppSettings, password },
  { ...strict, title: 'smpp' },
)

const httpBody = (settings: TSchema, secrets: TObject, title: string): TObject =>
  Type.Object(
    // An adapter that needs no secret also accepts a body without secrets.
    {
      ...common,
      kind: Type.Literal('http'),
      settings,
      secrets: secrets.required === undefined ? Type.Optional(secrets) : secrets,
    },
    { ...strict, title },
  )

const httpBodies = new Map(
  adapterNames.map((name) => [name, httpBody(adapters[name].settings, adapters[name].secrets, name)]),
)
// For settings without an adapter: only the common rules.
const UnknownBody = httpBody(
  Type.Object({ adapter: Type.Enum([...adapterNames]) }),
  Type.Object({}, { additionalProperties: true }),
  'http',
)

/** The body of POST /v1/carriers, for the API reference; `compileCreate` validates by kind and adapter. */
export const CreateBody = Type.Union([SmppBody, ...httpBodies.values()], {
  examples: [
    { name: 'Acme', settings: { host: 'smsc.example.com', port: 2775, system_id: 'acme' }, password: 'their password' },
  ],
})

/** The body of PATCH /v1/carriers/{id}, for the API reference; `checkPatch` validates by the existing carrier. */
export const PatchBody = Type.Object(
  {
    ...allOptional(common),
    settings: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Settings to change; null resets one.' }),
    ),
    password: Type.Optional(password),
    secrets: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'For an HTTP carrier; null removes one.' }),
    ),
  },
  { ...strict, minProperties: 1 },
)

interface CommonInput {
  name: string
  enabled?: boolean
  pace?: number
  priority?: number
}

export type CreateInput = CommonInput &
  (
    | { kind?: 'smpp'; settings: SmppSettings; password: string }
    | { kind: 'http'; settings: HttpSettings; secrets?: Record<string, string> }
  )

export interface PatchInput extends Partial<CommonInput> {
  settings?: object
  password?: string
  secrets?: Record<string, string | null>
}

type Check = (data: unknown) => true | { error: Error }
const validators = buildValidators({})
const compile = (schema: TSchema): Check => validators({ schema, httpPart: 'body' })

export const compileCreate: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (httpPart !== 'body') return validators({ schema, httpPart })
  const smpp = compile(SmppBody)
  const unknown = compile(UnknownBody)
  const http = new Map([...httpBodies].map(([name, body]) => [name, compile(body)]))
  return (data: unknown) => {
    if (at(data, 'kind') !== 'http') return smpp(data)
    const name = adapterNames.find((one) => one === at(data, 'settings', 'adapter'))
    const check = name && http.get(name)
    if (!check) return unknown(data)
    return complete(check(data), adapters[name], at(data, 'settings'), textsIn(at(data, 'secrets')))
  }
}

export const compileLater: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) =>
  httpPart === 'body' ? () => true : validators({ schema, httpPart })

const patchChecks = new Map<AdapterName | 'smpp', Check>()

/** Checks a change against the carrier's current settings and secrets. @throws ApiError `validation_failed` with every fault. */
export function checkPatch(
  body: unknown,
  adapter: AdapterName | null,
  settings: object,
  secrets: Secrets,
): asserts body is PatchInput {
  const key = adapter ?? 'smpp'
  let check = patchChecks.get(key)
  if (!check) patchChecks.set(key, (check = compile(patchBodyOf(adapter))))
  let verdict = check(body)
  if (adapter !== null) {
    const now = textsIn(merge(secrets, at(body, 'secrets')))
    verdict = complete(verdict, adapters[adapter], merge(settings, at(body, 'settings')), now)
  }
  if (verdict !== true) throw verdict.error
}

/** Overrides the current values with those of a change; null removes. */
export function merge(stands: object, change: unknown): Record<string, unknown> {
  const named = typeof change === 'object' && change !== null ? change : {}
  return Object.fromEntries(Object.entries({ ...stands, ...named }).filter(([, value]) => value !== null))
}

function patchBodyOf(adapter: AdapterName | null): TObject {
  const own: TProperties =
    adapter === null
      ? { settings: Type.Optional(partialOf(SmppSettings)), password: Type.Optional(password) }
      : {
          settings: Type.Optional(partialOf(adapters[adapter].settings)),
          secrets: Type.Optional(partialOf(adapters[adapter].secrets)),
        }
  return Type.Object({ ...allOptional(common), ...own }, { ...strict, minProperties: 1 })
}

/** Makes members optional without defaults, because missing ones stay; null removes optional ones. */
function partialOf(schema: TObject): TObject {
  // A record has patterns and no members.
  const { required, properties, patternProperties }: Partial<TObject> & { patternProperties?: TProperties } = schema
  // Not a union: Ajv compiles none whose members have defaults inside.
  const nullable = (one: TSchema): TSchema =>
    (one as { type?: string }).type === 'object' ? { ...one, nullable: true } : Type.Union([one, Type.Null()])
  const members = Object.entries(properties ?? {}).map(([name, one]) => {
    const { default: _, ...rest } = one as TSchema & { default?: unknown }
    return [name, (required as readonly string[] | undefined)?.includes(name) ? rest : nullable(rest)]
  })
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(members) as TProperties,
    ...(patternProperties && {
      patternProperties: Object.fromEntries(
        Object.entries(patternProperties).map(([name, one]) => [name, nullable(one)]),
      ),
    }),
  } as unknown as TObject
}

function allOptional(members: TProperties): TProperties {
  return Object.fromEntries(Object.entries(members).map(([name, one]) => [name, Type.Optional(one)]))
}

/** Adds the adapter's faults, except for fields that the schema refused. */
function complete(
  result: true | { error: Error },
  adapter: Adapter,
  settings: unknown,
  secrets: Secrets,
): true | { error: Error } {
  const error = result === true ? null : result.error
  if (error !== null && !(error instanceof ApiError && error.code === 'validation_failed')) return { error }
  const known: FieldError[] = error instanceof ApiError ? (error.options.errors ?? []) : []
  const isKnown = ({ pointer }: FieldError): boolean =>
    known.some((one) => pointer === one.pointer || pointer.startsWith(`${one.pointer}/`))
  const required: readonly string[] = adapter.secrets.required ?? []
  const missing = required
    .filter((name) => secrets[name] === undefined)
    .map((name): FieldError => ({ pointer: `#/secrets/${name}`, code: 'required', detail: 'is required' }))
  const base = textAt(settings, 'base_url')
  const unread: FieldError[] =
    base === null || URL.canParse(base)
      ? []
      : [{ pointer: '#/settings/base_url', code: 'invalid_value', detail: 'is not a valid address' }]
  const networks = at(settings, 'allowed_cidrs')
  const wrong = readNetworks(Array.isArray(networks) ? networks.map(String) : [], '#/settings/allowed_cidrs').errors
  const more = [...missing, ...unread, ...wrong, ...(adapter.check?.(settings, secrets) ?? [])].filter(
    (one) => !isKnown(one),
  )
  return known.length + more.length === 0 ? true : { error: invalid([...known, ...more]) }
}

function textsIn(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
