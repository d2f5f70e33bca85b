/** The routes of a carrier's table: the meanings of its codes, beside the defaults. */
import { STATUSES } from '@heliogram/smpp'
import { Type } from 'typebox'
import { ApiError } from '../ground/base/errors.ts'
import { Nullable, problems, type App } from '../ground/http/http.ts'
import { idempotent, type RouteContext } from '../ground/http/idempotency.ts'
import {
  handlingOf,
  handlings,
  messageErrors,
  receiptErrCodes,
  receiptStatCodes,
  reasonOfStatus,
  type MessageErrorCode,
} from '../message/taxonomy.ts'
import { Faults, readBeside } from '../ground/http/faults.ts'
import { reasonOfAnswer } from '../http-carriers/adapter.ts'
import { tableOf } from '../http-carriers/adapters.ts'
import { canonicalErr, canonicalStatus } from './mapping.ts'
import { mappingKinds, type Mapping, deleteMappings, listMappings, mergeMappings } from './store.ts'
import { presetNames, rowsOfPreset, type PresetName } from './presets.ts'
import { mappingsMax, readCsvTable, readKeys, readTable, renderMapping } from './table.ts'
import { holdCarrier, requireCarrier, type CarrierRow } from '../links/carrier-store.ts'

const bytesMax = 4 * 1024 * 1024

const StatusMapping = Type.Object(
  {
    kind: Type.Enum([...mappingKinds], { description: 'A refused submit, or a receipt.' }),
    stat: Nullable(Type.String({ description: 'Word of the receipt; null: any.', examples: ['UNDELIV'] })),
    code: Nullable(
      Type.String({
        description:
          'For a submit the command_status, or the code of an HTTP carrier; for a receipt its `err`, null: any.',
        examples: ['0x00000458'],
      }),
    ),
    error: Type.Enum(Object.keys(messageErrors), { description: '`error.code` of the message.' }),
    handling: Type.Enum([...handlings], {
      description:
        'permanent: the message ends; passing: retry later or elsewhere; throttling: retry, and slow the link down.',
    }),
    title: Type.String(),
    advice: Type.String({ description: 'Advice for the sender of the message.' }),
    note: Nullable(Type.String()),
    default: Type.Boolean({ description: 'Built in, not in this table.' }),
  },
  { $id: 'StatusMapping' },
)

const Table = Type.Object(
  {
    preset: Type.Optional(
      Type.Enum([...presetNames], {
        description: 'Start with the codes that this aggregator publishes for receipts over SMPP.',
      }),
    ),
    mappings: Type.Optional(
      Type.Array(
        Type.Unsafe<unknown>({
          description:
            'Strings `kind` and `error`; `code`, for receipts `stat` or both; optionally `handling` and `note`. All invalid rows are reported at once.',
        }),
        { maxItems: mappingsMax },
      ),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
)

const params = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a carrier.' }) })
const answer = { 200: Type.Object({ data: Type.Array(Type.Ref('StatusMapping')) }), ...problems(404, 413, 415) }
const body = {
  content: {
    'application/json': { schema: Table },
    'text/csv': {
      schema: Type.Unsafe<string>({
        type: 'string',
        description: 'The first line names the columns: kind, stat, code, error, handling, note.',
      }),
    },
  },
}

export function mappingRoutes(app: App, context: RouteContext): void {
  const { db } = context
  app.addSchema(StatusMapping)

  app.get(
    '/v1/carriers/:id/mappings',
    {
      schema: {
        operationId: 'listStatusMappings',
        summary: 'List status mappings',
        params,
        querystring: Type.Object(
          { defaults: Type.Optional(Type.Boolean({ description: 'Include the built-in ones, after its own.' })) },
          { additionalProperties: false },
        ),
        response: answer,
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const carrier = await requireCarrier(db, request.params.id)
      return show(await listMappings(db, carrier.id), request.query.defaults === true ? defaultsOf(carrier) : [])
    },
  )

  // Its own context, because only here bodies may be CSV.
  void app.register(async (child: App) => {
    child.addContentTypeParser('text/csv', { parseAs: 'string', bodyLimit: bytesMax }, (_request, text, done) => {
      done(null, text)
    })
    const routes = [
      { method: 'PUT', operationId: 'replaceStatusMappings', summary: 'Replace status mappings', isMerge: false },
      { method: 'PATCH', operationId: 'updateStatusMappings', summary: 'Add or update status mappings', isMerge: true },
    ] as const
    for (const { method, operationId, summary, isMerge } of routes)
      child.route({
        method,
        url: '/v1/carriers/:id/mappings',
        schema: {
          operationId,
          summary,
          description: isMerge
            ? 'JSON or CSV; it takes effect within a second. A row replaces the one with the same kind, stat and code.'
            : 'JSON or CSV; it takes effect within a second. Codes that are left out have their built-in meaning.',
          tags: ['Carriers'],
          params,
          body,
          response: answer,
        },
        config: { scope: 'carriers:write', audit: 'mappings.updated' },
        bodyLimit: bytesMax,
        attachValidation: true,
        handler: (request, reply) =>
          idempotent(context, request, reply, async (tx) => {
            const faults = new Faults(request)
            const { params: given, body } = request as { params: { id: string }; body?: string | TableInput }
            if (body === undefined) throw new ApiError('malformed_json', { detail: 'The body is empty.' })
            const carrier = await requireCarrier(tx, given.id)
            // Before its rows: deleting a carrier takes the locks in this order, too.
            await holdCarrier(tx, carrier.id)
            const rows = await readRows(body, carrier.kind !== 'http', faults)
            const before = show(await listMappings(tx, carrier.id))
            if (!isMerge) await deleteMappings(tx, carrier.id)
            await mergeMappings(tx, carrier.id, rows)
            return { status: 200, body: show(await listMappings(tx, carrier.id)), audit: { before } }
          }),
      })
  })

  app.delete(
    '/v1/carriers/:id/mappings',
    {
      schema: {
        operationId: 'deleteStatusMappings',
        summary: 'Delete status mappings',
        params,
        querystring: Type.Object(
          {
            kind: Type.Optional(Type.Enum([...mappingKinds])),
            stat: Type.Optional(Type.String({ maxLength: 64, description: 'Of the row; leave it out if it is null.' })),
            code: Type.Optional(Type.String({ maxLength: 64, description: 'Of the row; leave it out if it is null.' })),
          },
          { additionalProperties: false },
        ),
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'carriers:write', audit: 'mappings.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request.params.id)
        const keys = readKeys(request.query, carrier.kind !== 'http')
        const before = show(await listMappings(tx, carrier.id))
        const count = await deleteMappings(tx, carrier.id, keys)
        if (count === 0 && keys.code !== undefined)
          throw new ApiError('not_found', { detail: 'The table has no such row.' })
        return { status: 204, audit: { before, after: show(await listMappings(tx, carrier.id)) } }
      }),
  )
}

interface TableInput {
  preset?: PresetName
  mappings?: unknown[]
}

/** Rows of a body, over those of a preset. */
async function readRows(input: string | TableInput, smpp: boolean, faults: Faults): Promise<Mapping[]> {
  if (typeof input === 'string') return readCsvTable(input, smpp)
  const { preset, mappings = [] } = faults.sound(input)
  if (preset !== undefined && !smpp)
    faults.add('#/preset', 'invalid_value', 'is only for SMPP: an HTTP carrier has its own codes')
  const own = await readBeside(faults.all, () => readTable(mappings, smpp))
  const rows = [...(preset === undefined ? [] : rowsOfPreset(preset)), ...own]
  return [...new Map(rows.map((row) => [`${row.kind} ${row.stat} ${row.code}`, row])).values()]
}

function show(rows: Mapping[], defaults: readonly Mapping[] = []): { data: Record<string, unknown>[] } {
  return { data: [...rows.map((row) => renderMapping(row, false)), ...defaults.map((row) => renderMapping(row, true))] }
}

/** Built-in rows of a carrier: for receipts of an HTTP carrier its own codes, and below them those of the networks. */
function defaultsOf(carrier: CarrierRow): readonly Mapping[] {
  if (carrier.kind !== 'http') return [...statusRows, ...networkRows]
  const table = tableOf(carrier.settings)
  const answers = Object.keys(table.answers).flatMap((code): Mapping[] => {
    const reason = reasonOfAnswer(table, code)
    return reason ? [defaultRow('submit', '', code, reason.code, table.source, reason.handling)] : []
  })
  const receipts = Object.entries(table.receipts).map(([code, error]) =>
    defaultRow('receipt', '', canonicalErr(code), error, table.source),
  )
  const known = new Set(receipts.map(({ code }) => code))
  return [...answers, ...receipts, ...networkRows.filter(({ code }) => !known.has(code))]
}

function defaultRow(
  kind: Mapping['kind'],
  stat: string,
  code: string,
  error: MessageErrorCode,
  note: string,
  handling = handlingOf(error),
): Mapping {
  return { kind, stat, code, error, handling, note }
}

const sources = {
  status: 'SMPP 3.4 §5.1.3, SMPP 5.0 §4.7.6',
  err: '3GPP TS 29.002 §17.6',
  stat: 'Words used by many carriers',
}

const statusRows: readonly Mapping[] = Object.entries(STATUSES)
  .filter(([, [status]]) => status !== 0)
  .map(([name, [status]]) => {
    const { code, handling } = reasonOfStatus(status)
    return defaultRow('submit', '', canonicalStatus(status), code, `ESME_${name}: ${sources.status}`, handling)
  })

// Without the meanings of receipts' states alone.
const networkRows: readonly Mapping[] = [
  ...Object.entries(receiptStatCodes).map(([stat, error]) => defaultRow('receipt', stat, '', error, sources.stat)),
  ...Object.entries(receiptErrCodes).map(([code, error]) => defaultRow('receipt', '', code, error, sources.err)),
]
