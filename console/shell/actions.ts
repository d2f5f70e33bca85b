/** What the palette can do, by the operation that it needs. */
import type { OperationName } from '@heliogram/sdk'
import type { IconName } from '../kit/icon.tsx'
import { isAllowed } from '../kit/may.tsx'
import { logOut } from '../session/session.ts'
import { setLook } from './look.ts'
import { placesFor } from './sections.ts'

export interface Item {
  title: string
  icon: IconName
  /** Beside the title. */
  detail?: string
  /** Other words that find it. */
  words?: string
  does: string | (() => void)
}

const links: readonly (readonly [title: string, to: string, calls: OperationName, words?: string])[] = [
  ['New message', '/messages/new', 'sendMessage', 'send sms write compose'],
  ['New campaign', '/campaigns/new', 'createCampaign', 'create broadcast contacts import'],
  ['New template', '/templates/new', 'createTemplate', 'create text snippet'],
  ['Create webhook', '/webhooks/new', 'createWebhook', 'new add endpoint'],
  ['Create API key', '/keys/new', 'createApiKey', 'new token'],
  ['Create SMPP credential', '/keys/smpp/new', 'createSmppCredential', 'new client bind'],
  ['Add carrier', '/carriers/new', 'createCarrier', 'new create smpp http connect'],
  ['Add route', '/routes/new', 'createRoute', 'new create'],
  ['Test routing', '/routes/test', 'testRoute', 'which carrier'],
  ['Add sender', '/senders/new', 'createSender', 'new create number name'],
]

export function actionsFor(scopes: ReadonlySet<string>, openHelp: () => void): Item[] {
  const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark' || isSystemDark()
  const isCompact = document.documentElement.dataset['density'] === 'compact'
  return [
    ...links
      .filter(([, , calls]) => isAllowed(scopes, calls))
      .map(([title, to, , words = '']): Item => ({ title, icon: 'plus', words, does: to })),
    {
      title: isDark ? 'Switch to light theme' : 'Switch to dark theme',
      icon: isDark ? 'sun' : 'moon',
      words: 'theme colour color mode',
      does: () => setLook({ theme: isDark ? 'light' : 'dark' }),
    },
    {
      title: isCompact ? 'Comfortable rows' : 'Compact rows',
      icon: 'menu',
      words: 'density',
      does: () => setLook({ density: isCompact ? '' : 'compact' }),
    },
    { title: 'Keyboard shortcuts', icon: 'keyboard', words: 'help keys', does: openHelp },
    {
      title: 'Open the manual',
      icon: 'book',
      words: 'help docs reference api',
      does: () => void open('/docs', '_blank', 'noreferrer'),
    },
    { title: 'Log out', icon: 'logout', words: 'sign out leave', does: () => void logOut() },
  ]
}

const isSystemDark = (): boolean =>
  (document.documentElement.dataset['theme'] ?? '') === '' && matchMedia('(prefers-color-scheme: dark)').matches

export const screensFor = (scopes: ReadonlySet<string>): Item[] =>
  placesFor(scopes).flatMap(({ title: place, icon, tabs }) =>
    tabs.map(({ to, title, key }): Item => {
      const detail = key === undefined ? '' : `g ${key}`
      return { title, icon, words: `${place} go to`, does: to, ...(detail && { detail }) }
    }),
  )
