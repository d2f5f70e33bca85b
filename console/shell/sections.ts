/** Where one can go: the one list, for the navigation and the keyboard. */
import type { OperationName } from '@heliogram/sdk'
import { isAllowed } from '../kit/may.tsx'

export interface Place {
  /** Below `/console`. */
  to: string
  title: string
  /** Other addresses whose screens belong to it. */
  also?: readonly string[]
  /** What is pressed after `g`. */
  key?: string
  /** What is called there: it is there for who may do that, and for everybody otherwise. */
  calls?: OperationName
}

export interface Part {
  title: string
  places: Place[]
}

const parts: Part[] = [
  { title: '', places: [{ to: '/', title: 'Overview', key: 'o' }] },
  {
    title: 'Messaging',
    places: [
      { to: '/messages', title: 'Messages', key: 'm' },
      { to: '/conversations', title: 'Conversations', key: 'c', calls: 'replyInConversation' },
      { to: '/campaigns', title: 'Campaigns', key: 'p', also: ['/broadcasts', '/imports'], calls: 'listCampaigns' },
      { to: '/templates', title: 'Templates', calls: 'listTemplates' },
      { to: '/opt-outs', title: 'Opt-outs', calls: 'listConsent' },
      { to: '/usage', title: 'Usage', key: 'u', calls: 'getUsage' },
    ],
  },
  {
    title: 'Delivery',
    places: [
      { to: '/carriers', title: 'Carriers', key: 'l', calls: 'listCarriers' },
      { to: '/routes', title: 'Routes', calls: 'listRoutes' },
      { to: '/senders', title: 'Senders', calls: 'listSenders' },
      { to: '/guards', title: 'Guards', calls: 'listGuards' },
    ],
  },
  {
    title: 'Developers',
    places: [
      { to: '/webhooks', title: 'Webhooks', key: 'w', calls: 'listWebhooks' },
      { to: '/events', title: 'Events', key: 'e', calls: 'listEvents' },
      { to: '/keys', title: 'API keys', key: 'k', calls: 'listApiKeys' },
    ],
  },
  {
    title: 'Account',
    places: [
      { to: '/people', title: 'People', calls: 'listUsers' },
      { to: '/audit', title: 'Audit log', calls: 'listAuditEvents' },
      { to: '/accounts', title: 'Accounts', calls: 'listAccounts' },
      { to: '/settings', title: 'Settings', key: 's', calls: 'updateSettings' },
      { to: '/me', title: 'Your login' },
    ],
  },
]

/** The parts with what a login may see of them. */
export const partsFor = (scopes: ReadonlySet<string>): Part[] =>
  parts
    .map((part) => ({
      ...part,
      places: part.places.filter(({ calls }) => calls === undefined || isAllowed(scopes, calls)),
    }))
    .filter(({ places }) => places.length > 0)
