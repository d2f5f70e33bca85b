import type { Db } from '../ground/db/db.ts'
import { Type } from 'typebox'
import { IdOf, Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import type { AlertType } from './alert-step.ts'

export interface AlertRow {
  accountId: string
  id: string
  type: AlertType
  /** The id of a link, of an endpoint or of a carrier, or a sender's number. */
  subject: string
  detail: Record<string, unknown>
  openedAt: Date | null
  closedAt: Date | null
}

export const alertTypes = [
  'link.down',
  'link.throttled',
  'sender.degraded',
  'webhook.failing',
  'webhook.disabled',
  'reply.orphaned',
] as const satisfies AlertType[]

export const AlertSchema = Type.Object(
  {
    id: IdOf('alr', 'Id of the alert.'),
    object: Type.Literal('alert'),
    type: Type.Enum([...alertTypes]),
    status: Type.Enum(['open', 'closed']),
    link: Nullable(IdOf('lnk', 'The link, if it is about one.')),
    carrier: Nullable(
      Type.Object({ id: IdOf('car', 'Its carrier.'), name: Type.String() }, { description: 'For a link or replies.' }),
    ),
    sender: Nullable(
      Type.String({
        description: 'The number or name it is about. For orphan replies: one of the numbers.',
      }),
    ),
    webhook: Nullable(IdOf('whk', 'The webhook, if it is about one.')),
    reason: Nullable(
      Type.Enum(['gone', 'failing'], {
        description: 'For a disabled webhook: it answered 410, or only failed for five days.',
      }),
    ),
    last_error: Nullable(
      Type.String({
        description:
          'For a link that is down: the error from its carrier or the network. For a failing webhook: the result of the last post (`status 500`, `timeout`).',
      }),
    ),
    pace: Nullable(Type.Number({ description: 'For a throttled link: its segments a second.' })),
    allowed_pace: Nullable(Type.Number({ description: 'The pace that the carrier allows.' })),
    delivered: Nullable(Type.Integer({ description: 'For a sender: messages delivered within the window.' })),
    failed: Nullable(Type.Integer({ description: 'Messages with any other outcome.' })),
    window_minutes: Nullable(Type.Integer()),
    opened_at: Timestamp('When the problem had lasted long enough.'),
    closed_at: Nullable(
      Timestamp(
        'When the problem had been over for a while. Or when its link was disabled, its sender fell silent, its webhook was enabled or deleted, or the last of its replies was assigned or deleted.',
      ),
    ),
  },
  {
    $id: 'Alert',
    description: 'A lasting problem, with one alert for each episode. The numbers are those of its last change.',
  },
)

/** Alerts of an account, newest first; by primary key, in pages. `isOpen` null: open and closed ones. */
export const pageAlerts = (
  db: Db,
  accountId: string,
  { isOpen, type }: { isOpen: boolean | null; type: AlertType | null },
  ...place: PagePlace
): Promise<AlertRow[]> => {
  const columns = `account_id as "accountId", id, type, subject, detail, opened_at as "openedAt", closed_at as "closedAt"`
  const open = isOpen === null ? [] : [`closed_at is ${isOpen ? '' : 'not '}null`]
  const found = (): string[] => ['opened_at is not null', ...open]
  return listRows(db, { table: 'alerts', columns, accountId, key: type === null ? {} : { type }, found }, ...place)
}

/** Open alerts of failing webhooks, of all accounts; by alerts_unclosed. */
export async function countFailingWebhooks(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-failing-webhooks',
    text: `select count(*)::int as count from alerts where type = 'webhook.failing' and closed_at is null`,
  })
  return rows[0]?.count ?? 0
}

export function renderAlert(row: AlertRow): Record<string, unknown> {
  const { detail, type } = row
  const isOfLink = type === 'link.down' || type === 'link.throttled'
  const isOfReplies = type === 'reply.orphaned'
  const own = (name: string): unknown => detail[name] ?? null
  return {
    id: showId('alr', row.id),
    object: 'alert',
    type,
    status: row.closedAt ? 'closed' : 'open',
    link: isOfLink ? showId('lnk', row.subject) : null,
    carrier:
      isOfLink || isOfReplies ? { id: showId('car', String(detail['carrierId'])), name: detail['carrierName'] } : null,
    sender: isOfReplies ? own('number') : type === 'sender.degraded' ? row.subject : null,
    webhook: type.startsWith('webhook.') ? showId('whk', row.subject) : null,
    reason: own('reason'),
    last_error: own('lastError'),
    pace: own('pace'),
    allowed_pace: own('allowed'),
    delivered: own('delivered'),
    failed: own('failed'),
    window_minutes: own('windowMinutes'),
    opened_at: showTime(row.openedAt),
    closed_at: showTime(row.closedAt),
  }
}
