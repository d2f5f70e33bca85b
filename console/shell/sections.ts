/** Where one can go: the one list, for the navigation and the keyboard. */
import type { Scope } from '../kit/scopes.ts'

export interface Place {
  /** Below `/console`. */
  to: string
  title: string
  /** Other addresses whose screens belong to it. */
  also?: readonly string[]
  /** What is pressed after `g`. */
  key?: string
  /** What the API asks of who wants something there; everybody may otherwise. What it refuses is refused there, not here. */
  needs?: Scope
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
      { to: '/conversations', title: 'Conversations', key: 'c', needs: 'messages:read_body' },
      { to: '/campaigns', title: 'Campaigns', key: 'p', also: ['/broadcasts', '/imports'], needs: 'campaigns:read' },
      { to: '/templates', title: 'Templates', needs: 'campaigns:read' },
      { to: '/opt-outs', title: 'Opt-outs', needs: 'contacts:read' },
      { to: '/usage', title: 'Usage', key: 'u', needs: 'usage:read' },
    ],
  },
  {
    title: 'Delivery',
    places: [
      { to: '/carriers', title: 'Carriers', key: 'l', needs: 'carriers:read' },
      { to: '/routes', title: 'Routes', needs: 'routes:read' },
      { to: '/senders', title: 'Senders', needs: 'settings:read' },
      { to: '/guards', title: 'Guards', needs: 'settings:read' },
    ],
  },
  {
    title: 'Developers',
    places: [
      { to: '/webhooks', title: 'Webhooks', key: 'w', needs: 'webhooks:read' },
      { to: '/events', title: 'Events', key: 'e', needs: 'events:read' },
      { to: '/keys', title: 'API keys', key: 'k', needs: 'keys:read' },
    ],
  },
  {
    title: 'Account',
    places: [
      { to: '/people', title: 'People', needs: 'users:read' },
      { to: '/audit', title: 'Audit log', needs: 'audit:read' },
      { to: '/accounts', title: 'Accounts', needs: 'accounts:read' },
      { to: '/settings', title: 'Settings', key: 's', needs: 'settings:write' },
      { to: '/me', title: 'Your login' },
    ],
  },
]

/** The parts with what a login may see of them. */
export const partsFor = (scopes: ReadonlySet<string>): Part[] =>
  parts
    .map((part) => ({ ...part, places: part.places.filter(({ needs }) => needs === undefined || scopes.has(needs)) }))
    .filter(({ places }) => places.length > 0)
