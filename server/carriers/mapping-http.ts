/** The routes of a carrier's table: what its codes mean, beside the defaults. */
import { STATUSES } from '@heliogram/smpp'
import { Type } from 'typebox'
import type { Db, Tx } from '../db/db.ts'
import { ApiError, invalid } from '../errors.ts'
import { Nullable, problems, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { parseId } from '../ids.ts'
import type { Vault } from '../secrets.ts'
import {
  handlingOf,
  handlings,
  messageErrors,
  receiptErrCodes,
  receiptStatCodes,
  reasonOfStatus,
} from '../messages/taxonomy.ts'
import { canonicalStatus, mappingKinds, type Mapping } from './mapping.ts'
import { deleteMappings, listMappings, mergeMappings } from './mapping-store.ts'
import { presetNames, rowsOfPreset, type PresetName } from './mapping-presets.ts'
import { mappingsMax, readCsvTable, readKeys, readTable, renderMapping } from './mapping-table.ts'
import { findCarrier, type CarrierRow } from './store.ts'

const tags = ['Carriers']
const bytesMax = 4 * 1024 * 1024

const StatusMapping = Type.Object(
  {
    kind: Type.Enum([...mappingKinds], { description: 'A refused submit, or a receipt.' }),
    stat: Nullable(Type.String({ description: 'Word of the receipt; null: any.', examples: ['UNDELIV'] })),
    code: Nullable(
      Type.String({
        description:
          'Of a submit the command_status, or the code of an HTTP carrier; of a receipt its `err`, null: any.',
        examples: ['0x00000458'],
      }),
    ),
    error: Type.Enum(Object.keys(messageErrors), { description: '`error.code` of the message.' }),
    handling: Type.Enum([...handlings], {
      description: 'permanent: it ends; passing: again later or elsewhere; throttling: the link slows down too.',
    }),
    title: Type.String(),
    advice: Type.String({ description: 'What the sender of the message is told to do.' }),
    note: Nullable(Type.String()),
    default: Type.Boolean({ description: 'Built in, not of this table.' }),
  },
  { $id: 'StatusMapping' },
)

const Table = Type.Object(
  {
    preset: Type.Optional(
      Type.Enum([...presetNames], {
        description: 'Begin with the codes that this aggregator publishes for receipts over SMPP.',
      }),
    ),
    mappings: Type.Optional(
      Type.Array(
        Type.Unsafe<unknown>({
          description:
            'Strings `kind` and `error`; `code`, for receipts `stat` or both; `handling` and `note`, if you like. ' +
            'All wrong rows are told at once.',
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

/** Registers the routes. */
export function mappingRoutes(app: App, context: { db: Db; vault: Vault }): void {
  const { db } = context
  app.addSchema(StatusMapping)

  app.get(
    '/v1/carriers/:id/mappings',
    {
      schema: {
        operationId: 'listStatusMappings',
        summary: "Show what a carrier's codes mean",
        tags,
        params,
        querystring: Type.Object(
          { defaults: Type.Optional(Type.Boolean({ description: 'The built-in ones too, behind its own.' })) },
          { additionalProperties: false },
        ),
        response: answer,
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const carrier = await requireCarrier(db, request.params.id)
      return show(await listMappings(db, carrier.id), request.query.defaults === true && isSmpp(carrier))
    },
  )

  // A context of its own, because only here bodies may be CSV.
  void app.register(async (child: App) => {
    child.addContentTypeParser('text/csv', { parseAs: 'string', bodyLimit: bytesMax }, (_request, text, done) => {
      done(null, text)
    })
    const routes = [
      { method: 'PUT', operationId: 'replaceStatusMappings', summary: "Replace a carrier's table", isMerge: false },
      { method: 'PATCH', operationId: 'updateStatusMappings', summary: "Add rows to a carrier's table", isMerge: true },
    ] as const
    for (const { method, operationId, summary, isMerge } of routes)
      child.route({
        method,
        url: '/v1/carriers/:id/mappings',
        schema: {
          operationId,
          summary,
          description: isMerge
            ? 'JSON or CSV; it counts within a second. A row takes the place of the one with its kind, stat and code.'
            : 'JSON or CSV; it counts within a second. What it does not name has the built-in meaning again.',
          tags,
          params,
          body,
          response: answer,
        },
        config: { scope: 'carriers:write', operation: `mappings.${isMerge ? 'merge' : 'replace'}` },
        bodyLimit: bytesMax,
        handler: (request, reply) =>
          idempotent(context, request, reply, async (tx) => {
            const { params: given, body } = request as { params: { id: string }; body: string | TableInput }
            const carrier = await requireCarrier(tx, given.id)
            const rows = readRows(body, isSmpp(carrier))
            if (!isMerge) await deleteMappings(tx, carrier.id)
            await mergeMappings(tx, carrier.id, rows)
            return { status: 200, body: show(await listMappings(tx, carrier.id), false) }
          }),
      })
  })

  app.delete(
    '/v1/carriers/:id/mappings',
    {
      schema: {
        operationId: 'deleteStatusMappings',
        summary: "Delete a carrier's table, or a row of it",
        tags,
        params,
        querystring: Type.Object(
          {
            kind: Type.Optional(Type.Enum([...mappingKinds])),
            stat: Type.Optional(Type.String({ maxLength: 64, description: 'Of the row; left out where it is null.' })),
            code: Type.Optional(Type.String({ maxLength: 64, description: 'Of the row; left out where it is null.' })),
          },
          { additionalProperties: false },
        ),
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'carriers:write', operation: 'mappings.delete' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request.params.id)
        const keys = readKeys(request.query, isSmpp(carrier))
        const count = await deleteMappings(tx, carrier.id, keys)
        if (count === 0 && keys.code !== undefined)
          throw new ApiError('not_found', { detail: 'The table has no such row.' })
        return { status: 204 }
      }),
  )
}

interface TableInput {
  preset?: PresetName
  mappings?: unknown[]
}

/** Rows of a body; of a preset too, over which its own rows go. */
function readRows(input: string | TableInput, smpp: boolean): Mapping[] {
  if (typeof input === 'string') return readCsvTable(input, smpp)
  const own = readTable(input.mappings ?? [], smpp)
  if (input.preset === undefined && input.mappings === undefined)
    throw invalid([{ pointer: '#/mappings', code: 'required', detail: 'is required' }])
  if (input.preset !== undefined && !smpp)
    throw invalid([
      { pointer: '#/preset', code: 'invalid_value', detail: 'is for SMPP: an HTTP carrier has its own codes' },
    ])
  const rows = [...(input.preset === undefined ? [] : rowsOfPreset(input.preset)), ...own]
  return [...new Map(rows.map((row) => [`${row.kind} ${row.stat} ${row.code}`, row])).values()]
}

const isSmpp = (carrier: CarrierRow): boolean => ['smpp', 'simulator'].includes(carrier.kind)

async function requireCarrier(db: Db | Tx, shownId: string): Promise<CarrierRow> {
  const id = parseId('car', shownId)
  const carrier = id && (await findCarrier(db, id))
  if (!carrier) throw new ApiError('not_found', { detail: 'There is no such carrier.' })
  return carrier
}

function show(rows: Mapping[], hasDefaults: boolean): { data: Record<string, unknown>[] } {
  const own = rows.map((row) => renderMapping(row, false))
  return { data: hasDefaults ? [...own, ...defaultRows.map((row) => renderMapping(row, true))] : own }
}

const sources = {
  status: 'SMPP 3.4 §5.1.3, SMPP 5.0 §4.7.6',
  err: '3GPP TS 29.002 §17.6',
  stat: 'Words that many carriers write',
}

/** The built-in table of SMPP carriers as rows. What a receipt's state alone says is not among them. */
const defaultRows: readonly Mapping[] = [
  ...Object.entries(STATUSES)
    .filter(([, [status]]) => status !== 0)
    .map(([name, [status]]): Mapping => {
      const { code, handling } = reasonOfStatus(status)
      const note = `ESME_${name}: ${sources.status}`
      return { kind: 'submit', stat: '', code: canonicalStatus(status), error: code, handling, note }
    }),
  ...Object.entries(receiptStatCodes).map(([stat, error]): Mapping => ({
    kind: 'receipt',
    stat,
    code: '',
    error,
    handling: handlingOf(error),
    note: sources.stat,
  })),
  ...Object.entries(receiptErrCodes).map(([code, error]): Mapping => ({
    kind: 'receipt',
    stat: '',
    code,
    error,
    handling: handlingOf(error),
    note: sources.err,
  })),
]
