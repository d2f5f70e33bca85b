import { z } from 'zod'
import { defineActing } from '../acting.ts'
import { bounded } from '../untrusted.ts'
import { campaign, phoneNumber } from '../tool.ts'

const conflict = z
  .enum(['update', 'skip'])
  .optional()
  .describe('If the campaign already has the number: update that contact, or skip it. Default: refuse.')

export const createContact = defineActing({
  name: 'create_contact',
  title: 'Create a contact',
  description:
    'Adds a person to a campaign. It records no consent, because only people can give evidence; an opt-out remains.',
  scopes: ['contacts:write', 'contacts:read', 'campaigns:read', 'messages:read'],
  // Existing contacts may be overwritten (on_conflict=update).
  isDestructive: true,
  reachesOut: false,
  input: z.strictObject({
    campaign,
    phone_number: phoneNumber,
    first_name: z.string().max(100).optional(),
    last_name: z.string().max(100).optional(),
    external_id: z.string().max(255).optional().describe('Your own id of the person.'),
    language: z.string().max(35).optional().describe('BCP 47, such as de or pt-BR.'),
    tags: z.array(z.string().min(1).max(64)).max(50).optional(),
    attributes: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Values of your own, such as {"plan":"gold"}.'),
    on_conflict: conflict,
  }),
  effect: z.object({
    campaign: z.string(),
    campaign_name: z.string(),
    phone_number: z.string(),
    exists: z.string().nullable().describe('The existing contact with this number.'),
    opted_out: z.boolean().describe('The number has opted out: nothing would be sent to it.'),
  }),
  result: z.object({
    id: z.string(),
    campaign: z.string(),
    status: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  async plan({ client, signal }, { campaign, phone_number, on_conflict }) {
    const path = { campaign }
    const number = phone_number.replace(/^\+/, '')
    const [one, contacts, checked] = await Promise.all([
      client.call('getCampaign', { path }, { signal }),
      client.call('listContacts', { path, query: { phone_number: number, limit: 1 } }, { signal }),
      client.call('checkOptOuts', { body: { numbers: [number] } }, { signal }),
    ])
    const exists = contacts.data[0]?.id ?? null
    return {
      effect: {
        campaign: one.id,
        campaign_name: bounded(one.name, 120),
        phone_number,
        exists,
        opted_out: checked.data[0]?.opted_out ?? false,
      },
      recipients: 0,
      blocked:
        exists !== null && on_conflict === undefined
          ? `The campaign already has the number (${exists}): set on_conflict to update or skip.`
          : null,
    }
  },
  async perform({ client }, { campaign, on_conflict, ...body }, options) {
    return client.call('createContact', { path: { campaign }, query: { on_conflict }, body }, options)
  },
})

export const addOptOut = defineActing({
  name: 'add_opt_out',
  title: 'Create an opt-out',
  description:
    'Opts a number out of the whole account: queued messages to it are canceled, and nothing more is sent to it. Use it if a person asked for it in other words than STOP. Only people can reverse an opt-out.',
  scopes: ['contacts:write', 'messages:read'],
  isDestructive: true,
  reachesOut: false,
  input: z.strictObject({
    number: phoneNumber,
    reason: z.string().min(1).max(500).optional().describe('Who asked for it, and how; stored in the consent ledger.'),
  }),
  effect: z.object({ number: z.string(), valid: z.boolean(), opted_out_since: z.string().nullable() }),
  result: z.object({ id: z.string(), source: z.string(), created_at: z.string() }),
  async plan({ client, signal }, { number }) {
    const { data } = await client.call('checkOptOuts', { body: { numbers: [number] } }, { signal })
    const { valid = false, opted_out = false, since = null } = data[0] ?? {}
    return {
      effect: { number, valid, opted_out_since: since },
      recipients: 0,
      blocked: !valid ? 'It is not a valid phone number.' : opted_out ? 'It has already opted out.' : null,
    }
  },
  async perform({ client }, body, options) {
    return client.call('createOptOut', { body }, options)
  },
})
