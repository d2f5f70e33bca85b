/** Sections of the navigation and their shortcuts. */
import type { OperationName } from '@heliogram/sdk'
import { isAllowed } from '../kit/may.tsx'

export interface Place {
  to: string
  title: string
  /** Other addresses that belong to it. */
  also?: readonly string[]
  /** The letter after `g`. */
  key?: string
  /** Shown if the login may call this operation. */
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

export const partsFor = (scopes: ReadonlySet<string>): Part[] =>
  parts
    .map((part) => ({
      ...part,
      places: part.places.filter(({ calls }) => calls === undefined || isAllowed(scopes, calls)),
    }))
    .filter(({ places }) => places.length > 0)
