import { Type, type Static } from 'typebox'
import { QuietHoursChange } from '../accounts/account-settings.ts'
import { clearedByNull, IdOf, Nullable, paceNumber, Timestamp } from '../ground/http/http.ts'
import { messageTypes, unknownPolicies } from '../message/message.ts'
import { Stats } from './stats-schema.ts'
import { textFields } from './text.ts'

export const campaignStatuses = [
  'draft',
  'active',
  'awaiting_approval',
  'scheduled',
  'sending',
  'paused',
  'completed',
  'canceled',
  'archived',
] as const

const text = (description: string, minLength: number, maxLength: number) =>
  Type.String({ description, minLength, maxLength })

const Metadata = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  description: 'Up to 50 keys of at most 40 characters, values of at most 500.',
  maxProperties: 50,
  propertyNames: { maxLength: 40, minLength: 1 },
})

export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  description: 'Up to 50 labels.',
  maxItems: 50,
  uniqueItems: true,
})

const fields = {
  key: Type.String({
    description: 'A name of your own for the campaign, usable wherever its id is; unique in the account.',
    // A key that looked like an id would make `{campaign}` ambiguous.
    pattern: '^(?!cmp_)[a-z0-9][a-z0-9_-]{0,62}$',
    examples: ['autumn-sale'],
  }),
  description: text('A description for people.', 0, 1000),
  type: Type.Enum([...messageTypes], { description: 'Default type of its messages.' }),
  from: Type.String({
    description: 'Default sender of its messages: one of the senders of the account.',
    maxLength: 32,
  }),
  sender_pool: IdOf('pol', 'Default sender of its messages, instead of `from`: a pool of the account.'),
  ...textFields,
  default_country: Type.String({
    description: 'ISO 3166-1 alpha-2: where imported numbers without a country code are from.',
    examples: ['GB'],
  }),
  timezone: Type.String({ description: 'IANA time zone.', examples: ['Europe/London'] }),
  validity_period: Type.Integer({
    description: 'Default seconds for which its messages may wait to be sent.',
    minimum: 1,
    maximum: 259_200,
  }),
  pace: Nullable(
    paceNumber('Segments a second of all its messages, over all carriers and processes; null: as the links allow.'),
  ),
  on_unknown: Type.Enum([...unknownPolicies], {
    description:
      'What to do with its messages if the carrier does not answer: hold them, or send them again, perhaps twice.',
  }),
  shorten_urls: Type.Boolean({ description: 'Whether its messages have short links, and clicks are counted.' }),
  callback_url: Type.String({
    description:
      'Where events of its messages are posted, with their texts; to set it needs the scope messages:read_body.',
    maxLength: 2048,
  }),
  quiet_hours: Nullable(QuietHoursChange),
  metadata: Metadata,
  tags: Tags,
}

const name = text('A name for people.', 1, 120)

export const CampaignInput = Type.Object(
  { name, ...Type.Partial(Type.Object(fields)).properties },
  { additionalProperties: false, examples: [{ name: 'Autumn sale', key: 'autumn-sale' }] },
)
export type CampaignInput = Static<typeof CampaignInput>

const { key: _, metadata, tags, pace, quiet_hours, ...clearable } = fields
const { variables } = fields

export const CampaignChange = Type.Object(
  {
    name: Type.Optional(name),
    ...clearedByNull(clearable),
    ...Type.Partial(Type.Object({ variables, metadata, tags, pace, quiet_hours })).properties,
  },
  { additionalProperties: false, minProperties: 1, examples: [{ name: 'Winter sale', tags: ['sale'] }] },
)
export type CampaignChange = Static<typeof CampaignChange>

const Count = Type.Integer({ minimum: 0 })

export const Campaign = Type.Object(
  {
    id: IdOf('cmp', 'Id of the campaign.'),
    object: Type.Literal('campaign'),
    name: Type.String(),
    key: Nullable(fields.key),
    description: Nullable(Type.String()),
    status: Type.String({ description: '`active` for a campaign that labels messages. More states may come.' }),
    type: Nullable(fields.type),
    from: Nullable(Type.String()),
    sender_pool: Nullable(IdOf('pol', 'The pool for the senders of its messages.')),
    message: Nullable(Type.String()),
    template: Nullable(IdOf('tpl', 'The template of its broadcasts.')),
    variables: textFields.variables,
    default_country: Nullable(Type.String()),
    timezone: Nullable(Type.String()),
    validity_period: Nullable(Type.Integer()),
    pace: fields.pace,
    on_unknown: Nullable(fields.on_unknown),
    shorten_urls: Type.Boolean(),
    callback_url: Nullable(Type.String()),
    quiet_hours: Type.Union([QuietHoursChange, Type.Null()], {
      description: 'Its own quiet hours; null, or a missing field: the value of the account.',
    }),
    metadata: Type.Record(Type.String(), Type.String()),
    tags: Type.Array(Type.String()),
    contacts_count: Count,
    stats: Type.Union([Stats, Type.Null()], {
      description: 'Only when you get one campaign; null in lists.',
    }),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Campaign' },
)
