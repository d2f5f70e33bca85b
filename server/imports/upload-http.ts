import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import multipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { checkedAlone, problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { Places } from '../ground/http/places.ts'
import { Faults, objectOf } from '../ground/http/faults.ts'
import { readOpenCampaign } from '../campaigns/campaign.ts'
import { withCountry } from '../campaigns/country.ts'
import { ContactInput } from '../contacts/contact.ts'
import type { CampaignRow } from '../campaigns/store.ts'
import { charsetOf } from '../ground/tables/encoding.ts'
import type { ImportsContext } from './context.ts'
import { bodyOptions, parseFormOptions, queryOptions, readOptions } from './options.ts'
import { showImport } from './show.ts'
import { uploadsMax } from './start.ts'
import type { Format, ImportRow } from './store.ts'
import type { Stride } from './stride.ts'
import { completeFile, faultsOfNames, jsonBytesMax, storeFile, storeRows, type StoredFile } from './upload.ts'

export const campaignParams = Type.Object({ campaign: Type.String({ description: 'Id or key of a campaign.' }) })

// Long enough for 256 MiB on a normal line.
const discardMs = 30_000
const jsonRowsMax = 10_000

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const formats: Record<string, Format> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  [workbookType]: 'xlsx',
}
// A browser's media types depend on the installed programs; file names are more reliable.
const extensions: Record<string, Format> = {
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
  xlsx: 'xlsx',
}

const JsonImport = Type.Object(
  {
    contacts: Type.Array(
      // Members that only responses and exports have are dropped.
      checkedAlone<unknown>(Type.Union([ContactInput, Type.Ref('Contact')])),
      { minItems: 1, maxItems: jsonRowsMax },
    ),
    ...bodyOptions,
  },
  {
    additionalProperties: false,
    examples: [{ contacts: [{ phone_number: '15551230001', first_name: 'Ada' }], dry_run: true }],
  },
)
const Query = Type.Object(queryOptions, { additionalProperties: false })

const file = (description: string) => ({ schema: Type.Unsafe<unknown>({ description }) })

type UploadRequest = FastifyRequest<{ Params: { campaign: string }; Querystring: Static<typeof Query> }>

export async function uploadRoute(app: App, context: ImportsContext): Promise<void> {
  await app.register(multipart, { limits: { files: 1, fields: 10, fileSize: Infinity } })
  // An upload holds a connection for as long as its sender likes, so one account can take all places but one.
  const places = new Places(uploadsMax - 1, 'uploads in progress')
  app.addContentTypeParser([...Object.keys(formats), 'application/gzip'], (_, payload, done) => done(null, payload))
  app.post(
    '/v1/campaigns/:campaign/contacts/import',
    {
      schema: {
        operationId: 'importContacts',
        summary: 'Import contacts from a file',
        description:
          'CSV, a workbook, NDJSON or a JSON list, as a body or as `file` of a form; each also as gzip. You get the response when the file is on disk; the import continues in the background. A bad row never stops the file, and no import reverses an opt-out. Columns that are not fields of a contact become attributes.',
        tags: ['Imports'],
        params: campaignParams,
        querystring: Query,
        body: {
          content: {
            'application/json': { schema: JsonImport },
            'text/csv': file(
              'UTF-8, UTF-16 or Windows-1252; comma, semicolon, tab or bar; the first line names the columns. At most 256 MiB.',
            ),
            [workbookType]: file('A workbook (.xlsx); its first visible sheet. At most 256 MiB.'),
            'application/x-ndjson': file('One contact a line, as JSON. At most 256 MiB.'),
            'application/gzip': file('Any of the three files, compressed.'),
            'multipart/form-data': file(
              '`file`, and `options` as JSON: mapping, on_conflict, default_country, dry_run.',
            ),
          },
        },
        response: { 202: Type.Ref('Import'), ...problems(404, 409, 413, 415) },
      },
      config: { scope: 'contacts:write', testKeys: 'is of test campaigns', checksItemsOf: 'contacts' },
      attachValidation: true,
      bodyLimit: jsonBytesMax,
    },
    async (request, reply) => {
      const { body } = request as { body: unknown }
      const isFile = request.isMultipart() || body instanceof Readable
      // A file can only be read once, so its idempotency key is bound to its type and length instead of its content.
      if (isFile) request.body = { type: mediaTypeOf(request), length: request.headers['content-length'] ?? null }
      let leave = (): void => {}
      try {
        if (isFile) leave = await places.take(request.caller.accountId)
        return await idempotent(
          { ...context, db: context.imports.uploads, isOnce: true },
          request,
          reply,
          async (tx) => {
            const { accountId } = request.caller
            const known = new Faults(request).all
            const row = await store(tx, accountId, request, body, known, context.imports.openStride())
            // The upload may have taken hours.
            await request.askAgain()
            await context.imports.enqueue(tx, { accountId, importId: row.id })
            const shown = showImport(row, request.caller)
            return { status: 202, body: shown, location: `/v1/imports/${shown.id}`, resourceId: row.id }
          },
        )
      } finally {
        leave()
        if (isFile && !request.raw.readableEnded) {
          const rest = discard(request.raw)
          // If the response ended the connection, it would end before the rest is read.
          if (!reply.raw.shouldKeepAlive) await rest
        }
      }
    },
  )
}

/**
 * Reads and drops the rest of a refused or known file for a while: otherwise a client that is still sending would see a broken connection instead of
 * the response.
 */
async function discard(body: Readable): Promise<void> {
  body.on('error', () => {})
  body.unpipe()
  body.resume()
  const timer = setTimeout(() => body.destroy(), discardMs)
  timer.unref()
  // A client that has gone needs no answer.
  await finished(body).catch(() => {})
  clearTimeout(timer)
}

async function store(
  tx: Tx,
  accountId: string,
  request: UploadRequest,
  body: unknown,
  known: FieldError[],
  stride: Stride,
): Promise<ImportRow> {
  const campaign = withCountry(await readOpenCampaign(tx, accountId, request.params.campaign), request.caller)
  if (request.isMultipart()) return storeForm(tx, accountId, campaign, request, known, stride)
  if (!(body instanceof Readable)) {
    const json = objectOf(body as Static<typeof JsonImport>)
    const { asked, faults, isMappingRead } = readOptions(request.query, json, campaign, '#', known)
    if (isMappingRead) faults.push(...faultsOfNames(asked, '?mapping'))
    if (faults.length > 0) throw invalid(faults)
    return storeRows(tx, accountId, campaign.id, asked, json.contacts, stride)
  }
  const read = readOptions(request.query, null, campaign, '#', known)
  const incoming = {
    body,
    format: formats[mediaTypeOf(request)] ?? null,
    charset: charsetOf(request.headers['content-type'] ?? ''),
    isEncoded: isEncoded(request),
  }
  const stored = await storeFile(tx, accountId, campaign.id, incoming, read, stride)
  return completeFile(tx, accountId, stored, read, '?mapping')
}

async function storeForm(
  tx: Tx,
  accountId: string,
  campaign: CampaignRow,
  request: UploadRequest,
  known: FieldError[],
  stride: Stride,
): Promise<ImportRow> {
  let said: ReturnType<typeof parseFormOptions> | null = null
  let stored: StoredFile | null = null
  const faults = [...known]
  for await (const part of partsOf(request)) {
    if (part.type === 'file' && part.fieldname === 'file') {
      const incoming = { body: part.file, format: formatOf(part), charset: null, isEncoded: isEncoded(request) }
      stored = await storeFile(tx, accountId, campaign.id, incoming, null, stride).catch(explainForm)
      // Bytes behind the end of a gzip are unread, and the form does not continue before they are.
      part.file.resume()
    } else if (part.type === 'field' && part.fieldname === 'options')
      said = parseFormOptions(String(part.value), faults)
    else {
      faults.push(
        part.fieldname === 'file'
          ? {
              pointer: '#/file',
              code: 'invalid_format',
              detail: 'must be a file with a name, such as -F file=@people.csv sends',
            }
          : { pointer: `#/${part.fieldname}`, code: 'unknown_field', detail: 'does not exist' },
      )
      if (part.type === 'file') part.file.resume()
    }
  }
  if (!stored && !faults.some(({ pointer }) => pointer === '#/file'))
    faults.push({ pointer: '#/file', code: 'required', detail: 'is required' })
  const read = readOptions(request.query, said, campaign, '#/options', faults)
  if (!stored) throw invalid(read.faults)
  return completeFile(tx, accountId, stored, read, said?.mapping ? '#/options/mapping' : '?mapping')
}

async function* partsOf(request: UploadRequest): ReturnType<UploadRequest['parts']> {
  try {
    yield* request.parts()
  } catch (error) {
    explainForm(error)
  }
}

/** A form that cannot be parsed is its sender's error; the parser reports this by codes of its own, or only in words. */
function explainForm(error: unknown): never {
  if (!(error instanceof Error) || error instanceof ApiError) throw error
  const isOfParser = 'code' in error && String(error.code).startsWith('FST_')
  if (!isOfParser && !/multipart|part header|boundary/i.test(error.message)) throw error
  const detail = isOfParser
    ? 'must have one file, and its options'
    : 'must be a complete form (multipart/form-data, RFC 7578)'
  throw invalid([{ pointer: '#', code: 'invalid_format', detail }])
}

function formatOf({ filename, mimetype }: MultipartFile): Format | null {
  const extension = /\.(\w+?)(?:\.gz)?$/.exec(filename.toLowerCase())?.[1] ?? ''
  return extensions[extension] ?? formats[mimetype.toLowerCase()] ?? null
}

const mediaTypeOf = (request: FastifyRequest): string =>
  (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** @throws ApiError `unsupported_media_type` for an unsupported encoding. */
function isEncoded(request: FastifyRequest): boolean {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase()
  if (encoding === undefined || encoding === 'identity') return false
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  throw new ApiError('unsupported_media_type', { detail: 'Only gzip is supported for compressed bodies.' })
}
