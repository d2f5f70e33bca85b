/** Every command with one sentence, and where it is: only the module of the one that is asked for is loaded. */
import type { Word } from './cli.ts'

const [messaging, people, developing, operating, you] = [
  'Messages:',
  'People:',
  'For developers:',
  'For operators:',
  'You:',
]

/** By the word that is typed. */
export const words: Record<string, Word> = {
  send: {
    group: messaging,
    summary: 'send a message, or preview it',
    load: () => import('./commands/send.ts'),
  },
  messages: {
    group: messaging,
    summary: 'list, get, cancel and export messages',
    load: () => import('./commands/messages.ts'),
  },
  trace: {
    group: messaging,
    summary: 'everything about a message, in order',
    load: () => import('./commands/trace.ts'),
  },
  conversations: {
    group: messaging,
    summary: 'list conversations and their messages',
    load: () => import('./commands/conversations.ts'),
  },
  reply: { group: messaging, summary: 'reply in a conversation', load: () => import('./commands/reply.ts') },
  campaigns: {
    group: people,
    summary: 'list, get and create campaigns; their stats',
    load: () => import('./commands/campaigns.ts'),
  },
  broadcast: {
    group: people,
    summary: 'send to the contacts of a campaign; pause, resume, cancel',
    load: () => import('./commands/broadcast.ts'),
  },
  contacts: {
    group: people,
    summary: 'list, import and export contacts',
    load: () => import('./commands/contacts.ts'),
  },
  imports: { group: people, summary: 'the progress of contact imports', load: () => import('./commands/imports.ts') },
  'opt-outs': {
    group: people,
    summary: 'list, add, remove, check, import and export opt-outs',
    load: () => import('./commands/opt-outs.ts'),
  },
  events: {
    group: developing,
    summary: 'list and follow events, or forward them to your own server',
    load: () => import('./commands/events.ts'),
  },
  webhooks: {
    group: developing,
    summary: 'where events are posted, and how that went',
    load: () => import('./commands/webhooks.ts'),
  },
  keys: { group: developing, summary: 'API keys', load: () => import('./commands/keys.ts') },
  api: { group: developing, summary: 'call any operation of the API', load: () => import('./commands/api.ts') },
  status: {
    group: operating,
    summary: 'health, links, queue and alerts on one screen',
    load: () => import('./commands/status.ts'),
  },
  carriers: { group: operating, summary: 'carriers and their state', load: () => import('./commands/carriers.ts') },
  links: { group: operating, summary: 'live state of links; --watch', load: () => import('./commands/links.ts') },
  doctor: {
    group: operating,
    summary: 'find out why receipts match no message',
    load: () => import('./commands/doctor.ts'),
  },
  usage: { group: operating, summary: 'messages sent, and their cost', load: () => import('./commands/usage.ts') },
  login: { group: you, summary: 'log in, as a person or with a key', load: () => import('./commands/login.ts') },
  logout: { group: you, summary: 'end the login', load: () => import('./commands/logout.ts') },
  whoami: { group: you, summary: 'your user, account and installation', load: () => import('./commands/whoami.ts') },
  profiles: {
    group: you,
    summary: 'your logins at several installations',
    load: () => import('./commands/profiles.ts'),
  },
  completion: {
    group: you,
    summary: 'completion for bash, zsh or fish',
    load: async () => {
      const { buildCompletion } = await import('./commands/completion.ts')
      return { build: (cli) => buildCompletion(cli, words, [...Object.keys(ownWords), mcpWord.name, 'help']) }
    },
  },
}

/** The installation's own commands, which need its settings and not its API: bin/heliogram runs them without this program. */
export const ownWords: Record<string, string> = {
  start: 'run the service; see also "heliogram help settings"',
  backup: 'back up the whole database, while the service runs or not',
  restore: 'restore a backup into an empty database',
  'owner-code': 'print a new one-time code for the first owner',
  'rotate-key': 'replace the master key, while the service runs or not',
}

/** A server of the Model Context Protocol, for assistants. */
export const mcpWord = { name: 'mcp', summary: 'the API for assistants, as a server of the Model Context Protocol' }
