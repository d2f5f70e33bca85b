/** What the API has for the words in the palette. */
import type { OperationName } from '@heliogram/sdk'
import { heliogram } from '../api.ts'
import { canBeNumber } from '../kit/number.ts'
import type { Item } from './actions.ts'

/** Screens of the API's ids, by their prefix. */
const screens: Record<string, string> = {
  msg: '/messages/',
  cnv: '/conversations/',
  cmp: '/campaigns/',
  brc: '/broadcasts/',
  imp: '/imports/',
  tpl: '/templates/',
  car: '/carriers/',
  rte: '/routes/',
  snd: '/senders/',
  pol: '/senders/pools/',
  whk: '/webhooks/',
  evt: '/events/',
  key: '/keys/',
  smc: '/keys/smpp/',
  usr: '/people/',
  acc: '/accounts/',
}

const limit = 5
/** No country code begins with 0. */
const isPrefix = /^[1-9]\d{3,14}$/
/** Contacts are found in the newest campaigns: the API has them by campaign. */
const campaignsMax = 5

/** A whole id or a number: known without asking. */
export function readDirect(text: string, may: (name: OperationName) => boolean): Item[] {
  const id = text.trim()
  const screen = /^[a-z]{3}_[0-9a-z]{26}$/.test(id) ? screens[id.slice(0, 3)] : undefined
  if (screen !== undefined) return [{ title: `Open ${id}`, icon: 'search', does: screen + id }]
  const digits = digitsOf(text)
  if (!canBeNumber(digits)) return []
  const number = `+${digits}`
  return [
    { title: `Messages to ${number}`, icon: 'messages', does: `/messages?to=${digits}` },
    ...(may('sendMessage')
      ? [{ title: `New message to ${number}`, icon: 'plus', does: `/messages/new?to=${digits}` } as const]
      : []),
    ...(may('getOptOut')
      ? [{ title: `Opt-out and consent of ${number}`, icon: 'audience', does: `/opt-outs/${digits}` } as const]
      : []),
  ]
}

/** Digits of a phone number; none if the text is something else. */
const digitsOf = (text: string): string => (/^[+\d\s().-]+$/.test(text) ? text.replace(/\D/g, '') : '')

/** Campaigns, conversations and contacts. What fails is left out: the palette shows the rest. */
export async function find(text: string, may: (name: OperationName) => boolean, signal: AbortSignal): Promise<Item[]> {
  const digits = digitsOf(text)
  const found = await Promise.allSettled([
    digits === '' && may('listCampaigns') ? findCampaigns(text, signal) : [],
    may('listConversations') ? findConversations(digits || text, signal) : [],
    isPrefix.test(digits) && may('listContacts') ? findContacts(digits, signal) : [],
  ])
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}

async function findCampaigns(name: string, signal: AbortSignal): Promise<Item[]> {
  const { data } = await heliogram.call('listCampaigns', { query: { name, limit } }, { signal })
  return data.map((one) => ({ title: one.name, icon: 'campaigns', detail: 'Campaign', does: `/campaigns/${one.id}` }))
}

async function findConversations(search: string, signal: AbortSignal): Promise<Item[]> {
  const { data } = await heliogram.call('listConversations', { query: { search, limit } }, { signal })
  return data.map((one) => ({
    title: `+${one.their_number}`,
    icon: 'inbox',
    detail: 'Conversation',
    does: `/conversations/${one.id}`,
  }))
}

async function findContacts(digits: string, signal: AbortSignal): Promise<Item[]> {
  const campaigns = await heliogram.call('listCampaigns', { query: { limit: campaignsMax } }, { signal })
  const pages = await Promise.all(
    campaigns.data.map(async ({ id, name }) => {
      const query = { phone_prefix: digits, limit }
      const { data } = await heliogram.call('listContacts', { path: { campaign: id }, query }, { signal })
      return data.map((one): Item => ({
        title: `+${one.phone_number}`,
        icon: 'audience',
        detail: `Contact of ${name}`,
        does: `/campaigns/${id}/contacts/${one.id}`,
      }))
    }),
  )
  return pages.flat().slice(0, limit)
}
