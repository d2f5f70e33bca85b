import type { Readable } from 'node:stream'
import { Type, type Static } from 'typebox'
import { writeCsv } from '../ground/http/csv.ts'
import type { Db } from '../ground/db/db.ts'

import { IdOf, Nullable, PageOf, pageQuery, problems, Timestamp, type App, type Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { readPage, type PagePlace, type Position } from '../ground/http/page.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { Faults, readQuery } from '../ground/http/faults.ts'
import { openStream } from '../ground/http/stream.ts'
import {
  consentStatuses,
  listConsents,
  recordConsents,
  refuseObtained,
  type ConsentEvidence,
  type ConsentRow,
} from '../message/consent.ts'
import { readNumber } from '../ground/numbers/number.ts'
import { optOut } from './opt-out.ts'
import { change, originOf, readBodyNumber, type OptOutsContext } from './http.ts'
import { findCampaignId } from '../message/store.ts'

const tags = ['Consent']
const short = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

const said = Type.String({ maxLength: 2000, description: 'The text that the person was shown, or sent.' })
const evidence = {
  method: Type.Optional(short('How it was given: `web_form`, `paper`, `phone`, …')),
  source: Type.Optional(short('Where: the address of a page, the name of a shop.')),
  text: Type.Optional(said),
  obtained_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the person consented; not in the future.' }),
  ),
  ip: Type.Optional(
    Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })], {
      description: 'From which network address.',
    }),
  ),
}

const Consent = Type.Object(
  {
    id: IdOf('cns', 'Id of the entry.'),
    object: Type.Literal('consent'),
    number: Type.String({ description: 'The number in the request: the ledger itself has only its keyed hash.' }),
    status: Type.Enum([...consentStatuses]),
    source: Type.String({ description: '`reply`, `api`, `import`, `contact` or `review`.' }),
    actor: Nullable(Type.String({ description: 'Id of the key or user that recorded it; null: the person.' })),
    campaign: Nullable(Type.String()),
    message: Nullable(Type.String({ description: 'The reply, if it came from one.' })),
    evidence: Type.Object(
      {
        ...evidence,
        text: Type.Optional(
          Nullable(
            Type.String({
              description:
                'The text that the person was shown, or sent; null if it is the text of a reply and you lack the scope messages:read_body.',
            }),
          ),
        ),
      },
      {
        additionalProperties: true,
        description: 'With `reason` and `keyword`, if there is one.',
      },
    ),
    recorded_at: Timestamp('When it was recorded.'),
  },
  { $id: 'Consent' },
)

const numberQuery = Type.String({ maxLength: 16, description: 'E.164, with or without a plus sign.' })

export function consentRoutes(app: App, context: OptOutsContext): void {
  const { db, vault } = context
  app.addSchema(Consent)

  app.get(
    '/v1/consent',
    {
      schema: {
        operationId: 'listConsent',
        summary: 'List consent entries of a number',
        description: 'Entries are added and never changed. They outlive contacts, messages and forgotten numbers.',
        tags,
        querystring: Type.Object({ ...pageQuery, number: numberQuery }, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Consent')), ...problems() },
      },
      config: { scope: 'contacts:read' },
      attachValidation: true,
    },
    async (request) => {
      const { query, caller } = request
      const { accountId } = caller
      const number = await readQuery(request, (asked) => readBodyNumber(asked.number ?? '', '?number', caller))
      const read = (...place: PagePlace) => listConsents(db, vault, accountId, number, ...place)
      return readPage(query, ['consent', number], read, (row) => showConsent(row, number, caller.scopes))
    },
  )

  app.get(
    '/v1/consent/export',
    {
      schema: {
        operationId: 'exportConsent',
        summary: 'Export consent entries of a number as CSV',
        tags,
        querystring: Type.Object({ number: numberQuery }, { additionalProperties: false }),
        response: {
          200: { content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) } } },
          ...problems(),
        },
      },
      config: { scope: 'contacts:read' },
    },
    async (request, reply) => {
      const number = readBodyNumber(request.query.number, '?number', request.caller)
      const stream = await openStream(writeExport(db, vault, request.caller, number))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="consent-${number}.csv"`)
        .send(stream)
    },
  )

  app.post(
    '/v1/consent',
    {
      schema: {
        operationId: 'recordConsent',
        summary: 'Record consent',
        description: '`opted_out` opts the number out of the account. `opted_in` does not reverse an opt-out.',
        tags,
        body: Type.Object(
          {
            number: Type.String({ maxLength: 20 }),
            status: Type.Enum([...consentStatuses]),
            campaign: Type.Optional(
              Type.String({ maxLength: 255, description: 'Id or key of the campaign that it is for.' }),
            ),
            ...evidence,
          },
          {
            additionalProperties: false,
            examples: [
              { number: '15551230008', status: 'opted_in', method: 'web_form', text: 'Yes, remind me by SMS.' },
            ],
          },
        ),
        response: { 201: Type.Ref('Consent'), ...problems() },
      },
      config: { scope: 'contacts:write' },
      attachValidation: true,
    },
    (request, reply) =>
      change(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const sound = faults.sound(request.body)
        const read = sound.number === undefined ? null : readNumber(sound.number, request.caller.defaultCountry)
        if (read && !('number' in read)) faults.found.push({ pointer: '#/number', ...read })
        faults.found.push(...refuseObtained('#/obtained_at', sound.obtained_at))
        const campaignId = sound.campaign === undefined ? null : await findCampaignId(tx, accountId, sound.campaign)
        if (sound.campaign !== undefined && campaignId === null)
          faults.add('#/campaign', 'campaign_not_found', 'is not a campaign of this account')
        faults.end()
        if (!read || !('number' in read)) throw new TypeError('a sound consent has a number')
        const { number } = read
        const { number: _text, status, campaign: _campaign, ...proof } = request.body
        const origin = { ...originOf(request.caller, 'api'), campaignId }
        const out =
          status === 'opted_out'
            ? await optOut(tx, context, accountId, origin, [{ number, evidence: proof }])
            : { added: new Set<string>(), postings: [] }
        // A number that was opted out before is not added, but the statement is recorded.
        if (out.added.size === 0)
          await recordConsents(tx, vault, accountId, [
            { ...origin, number, status, campaignId, messageId: null, evidence: proof },
          ])
        const [row] = await listConsents(tx, vault, accountId, number, 1, null)
        if (!row) throw new Error('what was just recorded is there')
        return {
          status: 201,
          body: showConsent(row, number, request.caller.scopes),
          resourceId: row.id,
          postings: out.postings,
        }
      }),
  )
}

type ShownEvidence = Omit<ConsentEvidence, 'text'> & { text?: string | null }

/** Its evidence, without a reply's text if the caller may not read it. Other texts were recorded by callers. */
function evidenceOf({ messageId, evidence: all }: ConsentRow, scopes: ReadonlySet<string>): ShownEvidence {
  const isHidden = messageId !== null && all.text !== undefined && !scopes.has('messages:read_body')
  return isHidden ? { ...all, text: null } : all
}

function showConsent(row: ConsentRow, number: string, scopes: ReadonlySet<string>): Static<typeof Consent> {
  return {
    id: showId('cns', row.id),
    object: 'consent',
    number,
    status: row.status,
    source: row.source,
    actor: row.actor,
    campaign: row.campaignId && showId('cmp', row.campaignId),
    message: row.messageId && showId('msg', row.messageId),
    evidence: evidenceOf(row, scopes),
    recorded_at: row.recordedAt.toISOString(),
  }
}

const fields = ['recorded_at', 'status', 'source', 'actor', 'campaign', 'message'] as const
const proofs = ['keyword', 'reason', 'method', 'source', 'text', 'obtained_at', 'ip'] as const
const exportPageRows = 1000

async function* writeExport(
  db: Db,
  vault: Vault,
  { accountId, scopes }: Pick<Caller, 'accountId' | 'scopes'>,
  number: string,
): AsyncGenerator<string> {
  yield writeCsv([['number', ...fields, ...proofs.map((name) => `evidence_${name}`)]])
  let position: Position | null = null
  for (;;) {
    const rows: ConsentRow[] = await listConsents(db, vault, accountId, number, exportPageRows - 1, position)
    for (const row of rows) {
      const shown = showConsent(row, number, scopes)
      const evidence = evidenceOf(row, scopes)
      yield writeCsv([[number, ...fields.map((name) => shown[name]), ...proofs.map((name) => evidence[name] ?? null)]])
    }
    const last = rows.at(-1)
    if (!last || rows.length < exportPageRows) return
    position = { direction: 'before', id: last.id }
  }
}
