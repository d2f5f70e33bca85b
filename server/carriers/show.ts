import { Type } from 'typebox'
import { IdOf, Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { inboundUrl, type InboundKind } from '../http-carriers/address.ts'
import { adapters } from '../http-carriers/adapters.ts'
import { adapterNames, SmppSettings, type HttpSettings } from '../links/carrier-settings.ts'
import { CarrierQueueSchema, LatencySchema, PercentilesSchema, renderLatency, renderPart } from '../live/show.ts'
import { latencyByCountry, latencyOf, responsesOf, type NodeTimes } from '../live/live.ts'
import { partsOfCarrier, type QueueState } from '../live/queue.ts'
import type { CarrierRow, LinkRow } from '../links/carrier-store.ts'

export interface ShowContext {
  vault: Vault
  /** Our public address; without it, carriers' addresses are shown as paths. */
  publicUrl?: string
  /** Requests of HTTP carriers that this process refused or could not parse, by carrier. */
  refusals?: ReadonlyMap<string, number>
}

export interface LiveNumbers {
  times: readonly NodeTimes[]
  queue: QueueState
}

export const LinkSchema = Type.Object(
  {
    id: IdOf('lnk', 'Id of the link.'),
    object: Type.Literal('link'),
    carrier: IdOf('car', 'Its carrier.'),
    state: Type.Enum(['down', 'binding', 'bound', 'throttled', 'disabled']),
    sessions: Type.Integer({ description: 'Bound sessions, over all processes, as are the other numbers.' }),
    window: Type.Integer({ description: 'Maximum unanswered submits.' }),
    in_flight: Type.Integer({ description: 'Unanswered submits.' }),
    pace: Type.Number({
      description: 'Segments a second allowed now: less than its pace while the carrier throttles.',
    }),
    rate_1m: Type.Number({ description: 'Segments a second over the last minute.' }),
    response: Nullable(PercentilesSchema),
    last_enquire_link_at: Nullable(Timestamp('Last enquire_link with a response.')),
    last_error: Nullable(Type.String()),
    last_error_at: Nullable(Timestamp('When it occurred.')),
    unmatched_receipts: Type.Integer({ description: 'Receipts whose message is not known (yet).' }),
  },
  { $id: 'Link' },
)

export const Carrier = Type.Object(
  {
    id: IdOf('car', 'Id of the carrier.'),
    object: Type.Literal('carrier'),
    name: Type.String(),
    kind: Type.Enum(['smpp', 'http', 'simulator']),
    enabled: Type.Boolean(),
    pace: Type.Number(),
    priority: Type.Integer(),
    settings: Type.Union([SmppSettings, ...adapterNames.map((one) => adapters[one].settings)]),
    has_password: Type.Boolean({ description: 'Whether it has a password, or the secrets of its adapter.' }),
    inbound: Nullable(
      Type.Object(
        {
          receipts_url: Nullable(
            Type.String({ description: 'Where the carrier posts receipts; null without `carriers:write`.' }),
          ),
          replies_url: Nullable(Type.String({ description: 'Where it posts replies; null without `carriers:write`.' })),
          refused: Type.Integer({
            description:
              'Requests to these addresses without a valid signature, or unreadable, since this process started.',
          }),
        },
        { description: 'Addresses to enter at an HTTP carrier. Anyone who knows them can pretend to be it.' },
      ),
    ),
    links: Type.Array(Type.Ref('Link')),
    latency: LatencySchema,
    queue: CarrierQueueSchema,
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Carrier', description: 'A company that sends messages, over SMPP or an HTTP API.' },
)

/** Null for SMPP. */
export function httpOf(carrier: CarrierRow): HttpSettings | null {
  return carrier.kind === 'http' ? carrier.settings : null
}

/** In the order of their schema, because PostgreSQL stores them by the length of their names. */
function settingsInOrder({ kind, settings }: CarrierRow): Record<string, unknown> {
  const { properties } = kind === 'http' ? adapters[settings.adapter].settings : SmppSettings
  const known = new Map<string, unknown>(Object.entries({ ...settings }))
  const names = [...Object.keys(properties).filter((name) => known.has(name)), ...known.keys()]
  return Object.fromEntries(names.map((name) => [name, known.get(name)]))
}

/**
 * `links` may include other carriers'. Addresses for receipts and replies are secrets: `showsAddresses` is for callers who may change the
 * carrier.
 */
export function renderCarrier(
  context: ShowContext,
  row: CarrierRow,
  links: LinkRow[],
  live: LiveNumbers,
  showsAddresses: boolean,
): Record<string, unknown> {
  const http = httpOf(row)
  const own = links.filter((link) => link.carrierId === row.id)
  return {
    id: showId('car', row.id),
    object: 'carrier',
    name: row.name,
    kind: row.kind,
    enabled: row.enabled,
    pace: row.pace,
    priority: row.priority,
    settings: settingsInOrder(row),
    has_password: row.secrets !== null,
    inbound: http && renderInbound(context, row.id, http.url_version, showsAddresses),
    links: own.map((link) => renderLink(link, live.times)),
    ...renderNumbers(row.id, own, live),
    created_at: showTime(row.createdAt),
    updated_at: showTime(row.updatedAt),
  }
}

function renderNumbers(carrierId: string, links: LinkRow[], { times, queue }: LiveNumbers): Record<string, unknown> {
  const ids = links.map(({ id }) => id)
  return {
    latency: renderLatency(latencyOf(times, carrierId, ids), latencyByCountry(times, carrierId, ids)),
    queue: partsOfCarrier(queue, carrierId).map((part) => renderPart(part, queue, links)),
  }
}

function renderInbound(
  { vault, publicUrl = '', refusals }: ShowContext,
  carrierId: string,
  version: number,
  showsAddresses: boolean,
): Record<string, unknown> {
  const urlOf = (kind: InboundKind): string | null =>
    showsAddresses ? inboundUrl(vault, publicUrl, carrierId, version, kind) : null
  return {
    receipts_url: urlOf('receipts'),
    replies_url: urlOf('replies'),
    refused: refusals?.get(carrierId) ?? 0,
  }
}

/** For people: below a tenth of a segment per second, a rate has no meaning. */
function roundToTenth(rate: number): number {
  return Math.round(rate * 10) / 10
}

/** If its process is silent, a link counts as down, in any stored state. */
export function renderLink(row: LinkRow, times: readonly NodeTimes[]): Record<string, unknown> {
  const state = !row.enabled ? 'disabled' : row.isStale ? 'down' : row.state
  const isUp = state === 'bound' || state === 'throttled'
  return {
    id: showId('lnk', row.id),
    object: 'link',
    carrier: showId('car', row.carrierId),
    state,
    sessions: isUp ? row.sessions : 0,
    window: row.windowMax,
    in_flight: isUp ? row.inFlight : 0,
    pace: roundToTenth(row.pace),
    rate_1m: isUp ? roundToTenth(row.rate) : 0,
    response: responsesOf(times, row.id),
    last_enquire_link_at: showTime(row.lastEnquireLinkAt),
    last_error: row.lastError,
    last_error_at: showTime(row.lastErrorAt),
    unmatched_receipts: row.unmatchedReceipts,
  }
}
