import type { Carrier } from '@heliogram/sdk'
import { z } from 'zod'
import { maskNumbers, Untrusted, untrusted, type Numbers } from '../untrusted.ts'
import { defineReading, id } from '../tool.ts'

const Latency = z
  .object({ p50_ms: z.number(), p95_ms: z.number(), p99_ms: z.number(), count: z.number() })
  .nullable()
  .describe('Milliseconds over the last minutes; null if there are none.')

const CarrierShape = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  enabled: z.boolean(),
  pace: z.number().describe('Segments a second.'),
  priority: z.number(),
  links: z.array(
    z.object({
      id: z.string(),
      state: z.string().describe('down, binding, bound, throttled or disabled.'),
      sessions: z.number(),
      window: z.number(),
      in_flight: z.number().describe('Unanswered submits.'),
      pace: z.number().describe('Segments a second allowed now.'),
      rate_1m: z.number().describe('Segments a second over the last minute.'),
      unmatched_receipts: z.number(),
      last_error: Untrusted.nullable(),
      last_error_at: z.string().nullable(),
    }),
  ),
  response: Latency,
  receipt: Latency,
  queue: z.array(
    z.object({
      type: z.string(),
      messages: z.number(),
      segments: z.number(),
      oldest_age_seconds: z.number().nullable(),
      drain_seconds: z
        .number()
        .nullable()
        .describe('Time until it is sent at the current pace; null: no link can send it.'),
    }),
  ),
})

/** Without settings, which name hosts and accounts. */
function showCarrier(one: Carrier, numbers: Numbers): z.infer<typeof CarrierShape> {
  const links = one.links.map((link) => ({
    ...link,
    last_error: untrusted(link.last_error && maskNumbers(link.last_error, numbers), 200),
  }))
  return { ...one, ...one.latency, links }
}

export const inspectCarriers = defineReading({
  name: 'inspect_carriers',
  title: 'Inspect carriers and links',
  description:
    'Returns carriers with the live state of their links: bound or down, allowed and used rate, times of responses and receipts, and their queue. Use it if messages are slow or links are down. Passwords and addresses of carriers are never shown.',
  scopes: ['carriers:read'],
  input: z.strictObject({ carrier: id('Id of one carrier; default: all', 'car_…').optional() }),
  output: z.object({ carriers: z.array(CarrierShape), left_out: z.number().describe('Carriers beyond the first 30.') }),
  async read({ client, signal, numbers }, { carrier }) {
    const all =
      carrier === undefined
        ? (await client.call('listCarriers', {}, { signal })).data
        : [await client.call('getCarrier', { path: { id: carrier } }, { signal })]
    return {
      carriers: all.slice(0, 30).map((one) => showCarrier(one, numbers)),
      left_out: Math.max(0, all.length - 30),
    }
  },
})

export const diagnoseReceipts = defineReading({
  name: 'diagnose_receipts',
  title: 'Diagnose receipts',
  description:
    'Why do messages of a carrier stay `sent`, without a receipt? Tries the receipts without a message in every form in which carriers write ids, and names the setting that is wrong. Only people can change it.',
  scopes: ['carriers:read'],
  input: z.strictObject({
    carrier: id('Id of a carrier', 'car_…'),
    hours: z.int().min(1).max(720).default(24).describe('How far back, in hours.'),
  }),
  output: z.object({
    links: z.array(
      z.object({
        link: z.string(),
        message_id_form: z.string(),
        unmatched: z.number(),
        examined: z.number(),
        forms: z.array(z.object({ form: z.string(), would_match: z.number() })),
        advice: z.string(),
        setting_to_change: z.string().nullable(),
        findings: z.array(z.object({ advice: z.string(), setting_to_change: z.string().nullable() })),
        rematch: z.string(),
      }),
    ),
  }),
  async read({ client, signal }, { carrier, hours }) {
    const doctor = await client.call('diagnoseReceipts', { path: { id: carrier }, query: { hours } }, { signal })
    return {
      links: doctor.links.map((link) => ({
        ...link,
        setting_to_change: link.fix && requestOf(link.fix),
        findings: link.findings.map((one) => ({ ...one, setting_to_change: one.fix && requestOf(one.fix) })),
        rematch: link.rematch.state,
      })),
    }
  },
})

const requestOf = ({ method, path, body }: { method: string; path: string; body: object }): string =>
  `${method} ${path} ${JSON.stringify(body)}`
