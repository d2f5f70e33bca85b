import { Type } from 'typebox'
import type { GuardKind } from '../accounts/account-settings.ts'
import { actorOf, showActorId } from '../ground/audit/audit.ts'
import { now } from '../ground/db/clock.ts'
import type { Tx } from '../ground/db/db.ts'
import { ApiError, found, invalid, type FieldError } from '../ground/base/errors.ts'
import type { Outbox, Subscriptions, Needs } from '../events/events.ts'
import { PageOf, pageQuery, problems, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { Faults, readQuery } from '../ground/http/faults.ts'
import { readNumberFilter } from '../ground/numbers/filter.ts'
import { millionthsOf } from './guards.ts'
import { GuardLimit, readLimits } from './limits.ts'
import { findStop, Guard, listStops, releaseStops, showGuard, type GuardRow } from './stops.ts'

// The route owns the transaction and its end is not known here, so posts are left to any process that claims them, at once.
const claimed: Outbox = { nodeId: null, offer: () => {} }

export const endStopsOf =
  (subscriptions: Pick<Subscriptions, 'wants'>) =>
  async (tx: Tx, accountId: string, kinds: readonly GuardKind[], by: string): Promise<void> => {
    const release = { by, reason: 'The settings were changed.', until: null, raisedBy: null }
    await releaseStops(tx, { subscriptions, outbox: claimed }, accountId, { kinds }, release)
  }

const Release = Type.Object(
  {
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'The reason; it is stored.' }),
    until: Type.Optional(
      Timestamp('Until when it does not stop again; else, without `raise_by`, until its time is over.'),
    ),
    raise_by: Type.Optional(
      Type.String({
        pattern: '^\\d{1,12}(\\.\\d{1,6})?$',
        description:
          'By how much to raise the limit until its day or hour ends, in its own unit: segments, messages or money.',
        examples: ['5000'],
      }),
    ),
  },
  { additionalProperties: false },
)

export function guardRoutes(app: App, context: Needs<'db' | 'vault' | 'subscriptions'>): void {
  const { db, subscriptions } = context
  app.addSchema(Guard)
  app.addSchema(GuardLimit)
  app.get(
    '/v1/guards',
    {
      schema: {
        operationId: 'listGuards',
        summary: 'List current stops',
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Guard')), ...problems() },
      },
      config: { scope: 'settings:read' },
    },
    ({ query, caller: { accountId } }) =>
      readPage(query, ['guards', accountId], (...place) => listStops(db, accountId, ...place), showGuard),
  )

  app.get(
    '/v1/guards/limits',
    {
      schema: {
        operationId: 'listGuardLimits',
        summary: 'List guards with their current use',
        description:
          'All guards in the settings, whether or not they have stopped something. `used` counts accepted and queued messages; with `number`, also the messages of this hour to numbers with its prefix.',
        querystring: Type.Object(
          {
            number: Type.Optional(
              Type.String({
                maxLength: 40,
                description: 'A recipient, to get the use of its prefix if prefixes are limited.',
                examples: ['15551230001'],
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Object({ data: Type.Array(Type.Ref('GuardLimit')) }), ...problems() },
      },
      config: { scope: 'settings:read' },
      attachValidation: true,
    },
    async (request) => {
      const number = await readQuery(request, (query) => {
        const faults: FieldError[] = []
        const read = readNumberFilter('number', query.number, 'recipient', faults)
        if (faults.length > 0) throw invalid(faults)
        return read
      })
      return { data: await readLimits(db, request.caller.accountId, number) }
    },
  )

  app.post(
    '/v1/guards/:id/release',
    {
      schema: {
        operationId: 'releaseGuard',
        summary: 'Release a stop',
        description:
          'Sends continue at once, and waiting broadcasts within seconds. If the limit is reached again, that is another stop.',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a stop.' }) }),
        body: Release,
        response: { 200: Type.Ref('Guard'), ...problems(404, 409) },
      },
      config: { scope: 'settings:write', audit: 'guard.released' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { caller, body } = request
        const faults = new Faults(request)
        const sound = faults.sound(body)
        const id = parseId('grd', request.params.id)
        const row = found(id && (await findStop(tx, caller.accountId, id)), 'The account has no such stop.')
        const over = (isReleased: boolean): ApiError =>
          new ApiError('guard_over', {
            detail: isReleased ? 'It has already been released.' : 'Its day or hour has ended.',
          })
        if (row.releasedAt || row.endsAt <= now()) throw over(row.releasedAt !== null)
        const until = untilOf(row, sound.until, faults.found)
        const raisedBy = raisedByOf(row, sound.raise_by, faults.found)
        if (sound.until !== undefined && sound.raise_by !== undefined)
          faults.add('#/raise_by', 'invalid_value', 'cannot be combined with until')
        faults.end()
        const by = showActorId(actorOf(caller)) ?? ''
        const release = { by, reason: body.reason, until: raisedBy === null ? until : null, raisedBy }
        const which = { id: row.id }
        const {
          released: [after],
        } = await releaseStops(tx, { subscriptions, outbox: claimed }, caller.accountId, which, release)
        // Another request released it first.
        if (!after) throw over(true)
        return { status: 200, body: showGuard(after), audit: { before: showGuard(row) } }
      }),
  )
}

function untilOf(row: GuardRow, text: string | undefined, faults: FieldError[]): Date {
  if (text === undefined) return row.endsAt
  const until = new Date(text)
  if (until <= now() || until > row.endsAt)
    faults.push({
      pointer: '#/until',
      code: 'out_of_range',
      detail: `must be between now and ${row.endsAt.toISOString()}, when the stop ends by itself`,
    })
  return until
}

function raisedByOf(row: GuardRow, text: string | undefined, faults: FieldError[]): number | null {
  if (text === undefined) return null
  const pointer = '#/raise_by'
  if (row.limit === null)
    faults.push({
      pointer,
      code: 'invalid_value',
      detail: 'applies only to limits, and this guard has none; use until',
    })
  const amount = row.kind === 'spend' ? millionthsOf(text) : Number(text)
  if (!(amount > 0) || !Number.isInteger(amount))
    faults.push({
      pointer,
      code: 'invalid_value',
      detail: row.kind === 'spend' ? 'must be above 0' : 'must be a whole number above 0',
    })
  return amount
}
