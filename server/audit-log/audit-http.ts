import { Type, type Static } from 'typebox'
import { showActorId, type Actor, type AuditRow } from '../ground/audit/audit.ts'
import type { Db } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import {
  IdOf,
  Nullable,
  PageOf,
  pageQuery,
  problems,
  QueryTime,
  readTime,
  Timestamp,
  type App,
} from '../ground/http/http.ts'
import { parseId, showId, timeOfId } from '../ground/base/ids.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { readQuery } from '../ground/http/faults.ts'
import { listAuditEvents, verifyAudit, type AuditFilters } from './audit.ts'

const Changed = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
  description: 'The differences; secrets, phone numbers and e-mail addresses are masked.',
})

const AuditEvent = Type.Object(
  {
    id: IdOf('aud', 'The event.'),
    object: Type.Literal('audit_event'),
    seq: Type.Integer({ description: "Its position in the account's chain, from 1 without gaps." }),
    created_at: Timestamp('When it was recorded.'),
    actor: Type.Object({
      kind: Type.Enum(['user', 'key', 'system']),
      id: Nullable(Type.String({ description: 'The user or the API key; null: the program itself.' })),
    }),
    action: Type.String({ description: 'The action. New ones may be added.', examples: ['webhook.updated'] }),
    target: Nullable(Type.String({ description: 'Id of the changed resource, or its name if it has no id.' })),
    ip: Nullable(Type.String({ description: 'Address of the caller.' })),
    request_id: Nullable(Type.String({ description: 'X-Request-Id of the request.' })),
    before: Changed,
    after: Changed,
    hash: Type.String({ description: 'SHA-256 of the previous hash and the event, in hex.' }),
  },
  {
    $id: 'AuditEvent',
    description: 'An administrative write: who changed what. Events never change, and are deleted only by age.',
  },
)

const Verification = Type.Object(
  {
    object: Type.Literal('audit_verification'),
    valid: Type.Boolean(),
    events: Type.Integer({ description: 'Events that were checked.' }),
    head: Nullable(
      Type.String({ description: 'Hash of the last event. It covers all events before it; store it elsewhere.' }),
    ),
    broken_at: Nullable(
      Type.Object({
        seq: Type.Integer(),
        event: Nullable(Type.String()),
        reason: Type.Enum(['missing', 'changed', 'unlinked'], {
          description: '`unlinked`: it follows another event than the previous one.',
        }),
      }),
    ),
    pruned: Nullable(
      Type.Object(
        { seq: Type.Integer(), hash: Type.String() },
        {
          description:
            'The last event deleted by age (`retention.audit_days`): the first remaining one is chained to its hash.',
        },
      ),
    ),
  },
  { $id: 'AuditVerification' },
)

const Query = Type.Object(
  {
    actor: Type.Optional(
      Type.String({ maxLength: 40, description: 'Id of a user or an API key, or `system` for the program itself.' }),
    ),
    action: Type.Optional(Type.String({ maxLength: 100, examples: ['settings.updated'] })),
    target: Type.Optional(Type.String({ maxLength: 255, description: 'Id of the changed resource.' })),
    created_after: Type.Optional(QueryTime('Recorded at or after this time.')),
    created_before: Type.Optional(QueryTime('Recorded before this time.')),
    ...pageQuery,
  },
  { additionalProperties: false },
)

export function auditRoutes(app: App, { db }: { db: Db }): void {
  // A long log takes seconds of this process, so each account gets one check at a time.
  const checking = new Set<string>()
  app.addSchema(AuditEvent)
  app.addSchema(Verification)
  app.get(
    '/v1/audit-events',
    {
      schema: {
        operationId: 'listAuditEvents',
        summary: 'List audit events',
        description:
          'Administrative writes, each recorded in the transaction of its change. Sends, contacts and imports are not included. Changes to the installation (carriers, links, routes) are in the log of the account that made them.',
        querystring: Query,
        response: { 200: PageOf(Type.Ref('AuditEvent')), ...problems() },
      },
      config: { scope: 'audit:read' },
      attachValidation: true,
    },
    async (request) => {
      const { limit, cursor, ...query } = request.query
      const { accountId } = request.caller
      const filters = await readQuery(request, readFilters)
      const read = (...place: PagePlace) => listAuditEvents(db, accountId, filters, ...place)
      return readPage({ limit, cursor }, ['audit-events', query], read, showEvent)
    },
  )
  app.get(
    '/v1/audit-events/verify',
    {
      schema: {
        operationId: 'verifyAuditEvents',
        summary: 'Verify the audit log',
        description: 'Computes the hash of every event again, and returns the first break.',
        response: { 200: Type.Ref('AuditVerification'), ...problems(429) },
      },
      config: { scope: 'audit:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      if (checking.has(accountId))
        throw new ApiError('rate_limited', { detail: 'A check of the log is running.', retryAfterSeconds: 1 })
      checking.add(accountId)
      const { events, head, brokenAt, pruned } = await verifyAudit(db, accountId).finally(() =>
        checking.delete(accountId),
      )
      return {
        object: 'audit_verification' as const,
        valid: brokenAt === null,
        events,
        head: head && head.toString('hex'),
        broken_at: brokenAt && {
          seq: brokenAt.seq,
          event: brokenAt.id && showId('aud', brokenAt.id),
          reason: brokenAt.reason,
        },
        pruned: pruned && { seq: pruned.seq, hash: pruned.hash.toString('hex') },
      }
    },
  )
}

function readFilters(query: Omit<Static<typeof Query>, 'limit' | 'cursor'>): AuditFilters {
  const faults: FieldError[] = []
  const filters = {
    actor: query.actor === undefined ? null : readActor(query.actor, faults),
    action: query.action ?? null,
    target: query.target ?? null,
    createdAfter: readTime(query.created_after),
    createdBefore: readTime(query.created_before),
  }
  if (faults.length > 0) throw invalid(faults)
  return filters
}

function readActor(text: string, faults: FieldError[]): Actor | null {
  if (text === 'system') return { kind: 'system', id: null }
  for (const [prefix, kind] of [
    ['usr', 'user'],
    ['key', 'key'],
  ] as const) {
    const id = parseId(prefix, text)
    if (id !== null) return { kind, id }
  }
  const detail = 'must be the id of a user or an API key, or system'
  faults.push({ pointer: '?actor', code: 'invalid_format', detail })
  return null
}

function showEvent(row: AuditRow): Static<typeof AuditEvent> {
  return {
    id: showId('aud', row.id),
    object: 'audit_event',
    seq: row.seq,
    created_at: new Date(timeOfId(row.id)).toISOString(),
    actor: { kind: row.actorKind, id: showActorId({ kind: row.actorKind, id: row.actorId }) },
    action: row.action,
    target: row.target,
    ip: row.ip,
    request_id: row.requestId,
    before: row.before as Record<string, unknown> | null,
    after: row.after as Record<string, unknown> | null,
    hash: row.hash.toString('hex'),
  }
}
