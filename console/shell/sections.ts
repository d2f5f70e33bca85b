/** The eight places of the navigation, with the screens of each as tabs. */
import type { OperationName } from '@heliogram/sdk'
import type { IconName } from '../kit/icon.tsx'
import { isAllowed } from '../kit/may.tsx'

export interface Tab {
  to: string
  title: string
  /** The letter after `g`. */
  key?: string
  /** Shown if the login may call this operation. */
  calls?: OperationName
}

export interface Place {
  title: string
  icon: IconName
  /** Screens in the order of importance; the first is that of the place. */
  tabs: readonly Tab[]
  /** Other addresses that belong to it. */
  also?: readonly string[]
}

const places: readonly Place[] = [
  { title: 'Home', icon: 'house', tabs: [{ to: '/', title: 'Home', key: 'o' }] },
  { title: 'Messages', icon: 'messages', tabs: [{ to: '/messages', title: 'Messages', key: 'm' }] },
  {
    title: 'Inbox',
    icon: 'inbox',
    tabs: [{ to: '/conversations', title: 'Inbox', key: 'c', calls: 'replyInConversation' }],
  },
  {
    title: 'Campaigns',
    icon: 'campaigns',
    tabs: [
      { to: '/campaigns', title: 'Campaigns', key: 'p', calls: 'listCampaigns' },
      { to: '/broadcasts', title: 'Broadcasts', key: 'b', calls: 'listAllBroadcasts' },
      { to: '/templates', title: 'Templates', key: 't', calls: 'listTemplates' },
    ],
    also: ['/imports'],
  },
  {
    title: 'Audience',
    icon: 'audience',
    tabs: [
      { to: '/opt-outs', title: 'Opt-outs', key: 'a', calls: 'listConsent' },
      { to: '/opt-outs/suspected', title: 'Possible opt-outs', calls: 'listSuspectedOptOuts' },
      { to: '/opt-outs/keywords', title: 'Keywords', calls: 'getKeywords' },
    ],
  },
  {
    title: 'Carriers',
    icon: 'carriers',
    tabs: [
      { to: '/carriers', title: 'Carriers', key: 'l', calls: 'listCarriers' },
      { to: '/routes', title: 'Routes', key: 'r', calls: 'listRoutes' },
      { to: '/senders', title: 'Senders', calls: 'listSenders' },
      { to: '/senders/pools', title: 'Sender pools', calls: 'listSenderPools' },
      { to: '/guards', title: 'Guards', calls: 'listGuards' },
    ],
  },
  {
    title: 'Developers',
    icon: 'developers',
    tabs: [
      { to: '/keys', title: 'API keys', key: 'k', calls: 'listApiKeys' },
      { to: '/webhooks', title: 'Webhooks', key: 'w', calls: 'listWebhooks' },
      { to: '/events', title: 'Events', key: 'e', calls: 'listEvents' },
    ],
  },
  {
    title: 'Settings',
    icon: 'settings',
    tabs: [
      { to: '/settings', title: 'Settings', key: 's', calls: 'updateSettings' },
      { to: '/people', title: 'People', calls: 'listUsers' },
      { to: '/usage', title: 'Usage', key: 'u', calls: 'getUsage' },
      { to: '/audit', title: 'Audit log', calls: 'listAuditEvents' },
      { to: '/accounts', title: 'Accounts', calls: 'listAccounts' },
      { to: '/me', title: 'Your login' },
    ],
  },
]

/** Places and tabs that these scopes allow. */
export const placesFor = (scopes: ReadonlySet<string>): Place[] =>
  places
    .map((place) => ({
      ...place,
      tabs: place.tabs.filter(({ calls }) => calls === undefined || isAllowed(scopes, calls)),
    }))
    .filter(({ tabs }) => tabs.length > 0)

export const isAt = (path: string, { tabs, also = [] }: Place): boolean =>
  [...tabs.map(({ to }) => to), ...also].some((one) => path === one || (one !== '/' && path.startsWith(`${one}/`)))
