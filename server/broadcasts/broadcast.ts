/** A broadcast: one text to the contacts of a campaign, as a row and as a resource. */
import { givenUpStatuses } from '../campaigns/stats.ts'
import { Type, type Static } from 'typebox'
import { IdOf, Nullable, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { SendBody } from '../message/send-schema.ts'
import type { TemplateTexts } from '../templates/store.ts'
import { SendInput, Variables } from '../accept/read-send.ts'
import { MoneySchema } from '../ground/base/money.ts'
import { Stats } from '../campaigns/stats-schema.ts'

/** The last four are final. */
export const broadcastStatuses = [
  'awaiting_approval',
  'scheduled',
  'sending',
  'paused',
  'completed',
  'canceled',
  'rejected',
  'withdrawn',
] as const
export type BroadcastStatus = (typeof broadcastStatuses)[number]

/** Not over: the campaign is busy. */
export const unfinishedStatuses = [
  'awaiting_approval',
  'scheduled',
  'sending',
  'paused',
] as const satisfies BroadcastStatus[]

/** The parts that all messages of a broadcast share: a send without its recipient. */
export type MessageBody = Omit<SendBody, 'to' | 'campaign' | 'send_at' | 'message'> & {
  /** The text and its translations at the time of the order. */
  texts: TemplateTexts
  /** Values that override those of the contact. */
  variables?: Variables
  /** Address of its short links, if it uses them. */
  short_url?: string
}

export interface BroadcastRow {
  accountId: string
  id: string
  campaignId: string
  status: BroadcastStatus
  body: MessageBody
  isTest: boolean
  audienceTags: string[] | null
  sendAt: Date
  /** `YYYY-MM-DDTHH:MM:SS` on each recipient's clock; null: one time for all. */
  sendAtLocal: string | null
  /** The campaign's; '' derives it from the number. */
  timezone: string
  isExpanded: boolean
  recipients: number
  messages: number
  segments: number
  skipped: Record<string, number>
  isSettled: boolean
  createdAt: Date
  startedAt: Date | null
  completedAt: Date | null
  /** Public ids of those who ordered it, and approved or rejected it. */
  orderedBy: string | null
  decidedBy: string | null
  decidedAt: Date | null
  decision: string | null
  /** The number of recipients that needs no further approval; null: never approved. */
  approvedRecipients: number | null
  /** Why its remaining recipients wait, and until when. */
  holdReason: HoldReason | null
  holdUntil: Date | null
  holdGuardId: string | null
}

/** The guards that can stop a broadcast. */
const holdReasons = ['spend', 'country_limit', 'velocity'] as const
export type HoldReason = (typeof holdReasons)[number]

const { to: _to, campaign: _campaign, send_at: _sendAt, message, ...rest } = SendBody.properties

/** Body of `POST /v1/campaigns/{campaign}/send`. */
export const BroadcastInput = Type.Object(
  {
    message: Type.Optional(
      Type.String({
        ...message,
        description:
          'The text, with merge fields: `Hello {{ first_name | default: "there" }}`. Default: `template`, then the campaign\'s text.',
        examples: ['Hello {{ first_name | default: "there" }}'],
      }),
    ),
    template: Type.Optional({
      ...SendInput.properties.template,
      description:
        'Id or name of a template, instead of `message`: each contact gets the text in its language. It is copied; later changes have no effect.',
    }),
    variables: Type.Optional({
      ...Variables,
      description: 'Values for merge fields, the same for all; they override those of the contact.',
    }),
    ...rest,
    audience: Type.Optional(
      Type.Object(
        {
          tags: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
            minItems: 1,
            maxItems: 50,
            description: 'Contacts that have one of these tags.',
          }),
        },
        { additionalProperties: false, description: 'Default: all contacts of the campaign.' },
      ),
    ),
    send_at: Type.Optional(Timestamp('When it starts; default: now.')),
    send_at_local: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?$',
        description: "A time without a zone, in each recipient's time zone. Not together with `send_at`.",
        examples: ['2026-12-01T09:00'],
      }),
    ),
    max_rate: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 6_000_000,
        description: "Messages a minute at most. Sets the campaign's pace, which counts segments.",
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        description: 'Sends nothing: returns how many would get it, in how many segments, and who would not.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ message: 'Hello {{ first_name | default: "there" }}', dry_run: true }],
  },
)
export type BroadcastInput = Static<typeof BroadcastInput>

const Count = Type.Integer({ minimum: 0 })
const Skipped = Type.Record(Type.String(), Count, {
  description: 'Recipients without a message, by reason: an error code, or `contact_deleted`.',
})

export const Broadcast = Type.Object(
  {
    id: IdOf('brc', 'Id of the broadcast.'),
    object: Type.Literal('broadcast'),
    campaign: IdOf('cmp', 'Its campaign.'),
    status: Type.Enum([...broadcastStatuses]),
    message: Type.String(),
    audience: Nullable(Type.Object({ tags: Type.Array(Type.String()) })),
    send_at: Nullable(Timestamp('When it starts.')),
    send_at_local: Nullable(Type.String()),
    recipients: Type.Integer({
      minimum: 0,
      description:
        'Recipients known so far; all of them when `expanded` is true. Before it starts: the contacts it would go to now.',
    }),
    expanded: Type.Boolean(),
    messages: Type.Integer({
      minimum: 0,
      description: 'Messages created so far; their outcomes are in `stats`.',
    }),
    segments: Count,
    skipped: Skipped,
    remaining: Type.Integer({ minimum: 0, description: 'Recipients whose turn has not come.' }),
    stats: Type.Union([Stats, Type.Null()], {
      description: 'Its results: in lists and when you get it; null elsewhere.',
    }),
    test: Type.Boolean(),
    created_at: Timestamp('When it was created.'),
    started_at: Nullable(Timestamp('When it started.')),
    completed_at: Nullable(
      Timestamp('When its last message was sent to a carrier, or when it was canceled, rejected or withdrawn.'),
    ),
    ordered_by: Nullable(Type.String({ description: 'Id of the user or API key.' })),
    approval: Nullable(
      Type.Object({
        by: Type.String({ description: 'Id of the user or API key that approved or rejected it.' }),
        at: Timestamp('When it was approved or rejected.'),
        reason: Nullable(Type.String()),
        recipients: Nullable(
          Type.Integer({
            minimum: 0,
            description: 'The number of recipients then; with more than these it waits again. Null: it was rejected.',
          }),
        ),
      }),
    ),
    hold: Nullable(
      Type.Object(
        {
          reason: Type.Enum([...holdReasons]),
          guard: IdOf('grd', 'The stop; releasing it lets the broadcast continue.'),
          until: Timestamp('When it continues without a release.'),
        },
        { description: 'Why the remaining recipients wait.' },
      ),
    ),
  },
  { $id: 'Broadcast' },
)

export const DryRun = Type.Object(
  {
    object: Type.Literal('dry_run'),
    recipients: Count,
    messages: Count,
    segments: Count,
    encodings: Type.Object({ 'GSM-7': Count, 'UCS-2': Count }),
    segments_max: Type.Integer({ minimum: 0, description: 'Of the longest message.' }),
    cost: Type.Array(MoneySchema, {
      description: 'The estimated cost: one amount for each currency, empty if no price is known.',
    }),
    skipped: Skipped,
    skips: Type.Array(
      Type.Object({
        contact: Type.String(),
        phone_number: Type.String(),
        reason: Type.String(),
        detail: Type.String(),
      }),
      {
        description: 'The first 100; with `Accept: text/csv` the response lists all.',
      },
    ),
    ucs2_extra: Type.Object(
      {
        segments: Count,
        cost: Type.Array(MoneySchema),
        characters: Type.Array(Type.String(), { description: 'The most frequent ones first; at most 10.' }),
      },
      {
        description:
          'What messages in UCS-2 need beyond GSM-7: segments, their estimated cost, and the characters that GSM-7 lacks.',
      },
    ),
    sample: Nullable(Type.String({ description: 'The text for the first recipient.' })),
  },
  { $id: 'DryRun' },
)

const skippedOf = (row: BroadcastRow): number => Object.values(row.skipped).reduce((sum, count) => sum + count, 0)

function holdOf({ status, holdReason, holdGuardId, holdUntil }: BroadcastRow): Static<typeof Broadcast>['hold'] {
  if (status !== 'sending' || !holdReason || !holdGuardId || !holdUntil) return null
  return { reason: holdReason, guard: showId('grd', holdGuardId), until: holdUntil.toISOString() }
}

function approvalOf(row: BroadcastRow): Static<typeof Broadcast>['approval'] {
  const { decidedBy, decidedAt, decision, approvedRecipients } = row
  if (decidedBy === null || !decidedAt) return null
  const recipients = row.status === 'rejected' ? null : approvedRecipients
  return { by: decidedBy, at: decidedAt.toISOString(), reason: decision, recipients }
}

export function showBroadcast(row: BroadcastRow, stats: Stats | null = null): Static<typeof Broadcast> {
  return {
    id: showId('brc', row.id),
    object: 'broadcast',
    campaign: showId('cmp', row.campaignId),
    status: row.status,
    message: row.body.texts.body,
    audience: row.audienceTags && { tags: row.audienceTags },
    send_at: row.sendAtLocal === null ? row.sendAt.toISOString() : null,
    send_at_local: row.sendAtLocal,
    recipients: row.recipients,
    expanded: row.isExpanded,
    messages: row.messages,
    segments: row.segments,
    skipped: row.skipped,
    remaining: givenUpStatuses.some((status) => status === row.status)
      ? 0
      : row.recipients - row.messages - skippedOf(row),
    stats,
    test: row.isTest,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt && row.startedAt.toISOString(),
    completed_at: row.completedAt && row.completedAt.toISOString(),
    ordered_by: row.orderedBy,
    approval: approvalOf(row),
    hold: holdOf(row),
  }
}
