/** Every command with its summary and module: only the module in use is loaded. */
import type { Word } from './cli.ts'

const [messaging, people, developing, operating, you] = [
  'Messages:',
  'People:',
  'For developers:',
  'For operators:',
  'You:',
]

const word = (group: string, summary: string, load: Word['load']): Word => ({ group, summary, load })

export const words: Record<string, Word> = {
  send: word(messaging, 'send a message, or preview it', () => import('./commands/send.ts')),
  messages: word(messaging, 'list, get, cancel and export messages', () => import('./commands/messages.ts')),
  trace: word(messaging, 'everything about a message, in order', () => import('./commands/trace.ts')),
  conversations: word(messaging, 'list conversations and their messages', () => import('./commands/conversations.ts')),
  reply: word(messaging, 'reply in a conversation', () => import('./commands/reply.ts')),
  campaigns: word(people, 'list, get and create campaigns; their stats', () => import('./commands/campaigns.ts')),
  broadcast: word(
    people,
    'send to the contacts of a campaign; pause, resume, cancel',
    () => import('./commands/broadcast.ts'),
  ),
  contacts: word(people, 'list, import and export contacts', () => import('./commands/contacts.ts')),
  imports: word(people, 'the progress of contact imports', () => import('./commands/imports.ts')),
  'opt-outs': word(
    people,
    'list, add, remove, check, import and export opt-outs',
    () => import('./commands/opt-outs.ts'),
  ),
  events: word(
    developing,
    'list and follow events, or forward them to your own server',
    () => import('./commands/events.ts'),
  ),
  webhooks: word(developing, 'webhooks, and their delivery attempts', () => import('./commands/webhooks.ts')),
  keys: word(developing, 'API keys', () => import('./commands/keys.ts')),
  api: word(developing, 'call any operation of the API', () => import('./commands/api.ts')),
  status: word(operating, 'health, links, queue and alerts on one screen', () => import('./commands/status.ts')),
  carriers: word(operating, 'carriers and their state', () => import('./commands/carriers.ts')),
  links: word(operating, 'live state of links; --watch', () => import('./commands/links.ts')),
  doctor: word(operating, 'find out why receipts match no message', () => import('./commands/doctor.ts')),
  usage: word(operating, 'messages sent, and their cost', () => import('./commands/usage.ts')),
  login: word(you, 'log in, as a person or with a key', () => import('./commands/login.ts')),
  logout: word(you, 'end the login', () => import('./commands/logout.ts')),
  whoami: word(you, 'your user, account and installation', () => import('./commands/whoami.ts')),
  profiles: word(you, 'your logins at several installations', () => import('./commands/profiles.ts')),
  completion: {
    group: you,
    summary: 'completion for bash, zsh or fish',
    load: async () => {
      const { buildCompletion } = await import('./commands/completion.ts')
      return { build: (cli) => buildCompletion(cli, words, [...Object.keys(ownWords), mcpWord.name, 'help']) }
    },
  },
}

/** Commands that need the installation's settings instead of its API: bin/heliogram runs them without this program. */
export const ownWords: Record<string, string> = {
  start: 'run the service; see also "heliogram help settings"',
  backup: 'back up the whole database; the service can keep running',
  restore: 'restore a backup into an empty database',
  'owner-code': 'print a new one-time code for the first owner',
  'rotate-key': 'replace the master key; the service can keep running',
}

export const mcpWord = { name: 'mcp', summary: 'the API for assistants, as a server of the Model Context Protocol' }
