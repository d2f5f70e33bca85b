/** Where one can go: the one list, for the navigation and the keyboard. */

export interface Place {
  /** Below `/console`. */
  to: string
  title: string
  /** Other addresses whose screens belong to it. */
  also?: readonly string[]
  /** What is pressed after `g`. */
  key?: string
  /** Roles that the API lets in; everybody otherwise. What it refuses is refused there, not here. */
  roles?: readonly string[]
}

export interface Part {
  title: string
  places: Place[]
}

const makers = ['owner', 'admin', 'developer']
const writers = [...makers, 'sender']
const keepers = ['owner', 'admin']

const parts: Part[] = [
  { title: '', places: [{ to: '/', title: 'Overview', key: 'o' }] },
  {
    title: 'Messaging',
    places: [
      { to: '/messages', title: 'Messages', key: 'm' },
      { to: '/conversations', title: 'Conversations', key: 'c', roles: writers },
      { to: '/campaigns', title: 'Campaigns', key: 'p', also: ['/broadcasts', '/imports'] },
      { to: '/templates', title: 'Templates', roles: writers },
      { to: '/opt-outs', title: 'Opt-outs', roles: writers },
      { to: '/usage', title: 'Usage', key: 'u' },
    ],
  },
  {
    title: 'Delivery',
    places: [
      { to: '/carriers', title: 'Carriers', key: 'l', roles: ['owner'] },
      { to: '/routes', title: 'Routes', roles: ['owner'] },
      { to: '/senders', title: 'Senders', roles: makers },
      { to: '/guards', title: 'Guards', roles: makers },
    ],
  },
  {
    title: 'Developers',
    places: [
      { to: '/webhooks', title: 'Webhooks', key: 'w', roles: makers },
      { to: '/events', title: 'Events', key: 'e', roles: makers },
      { to: '/keys', title: 'API keys', key: 'k', roles: makers },
    ],
  },
  {
    title: 'Account',
    places: [
      { to: '/people', title: 'People', roles: makers },
      { to: '/audit', title: 'Audit log', roles: keepers },
      { to: '/accounts', title: 'Accounts', roles: keepers },
      { to: '/settings', title: 'Settings', key: 's', roles: keepers },
      { to: '/me', title: 'Your login' },
    ],
  },
]

/** The parts with what a role may see of them. */
export const partsFor = (role: string): Part[] =>
  parts
    .map((part) => ({ ...part, places: part.places.filter(({ roles }) => roles?.includes(role) ?? true) }))
    .filter(({ places }) => places.length > 0)
