import type { Needs } from '../events/events.ts'
import type { Imports } from './start.ts'

export type ImportsContext = Needs<'db' | 'vault' | 'outbox' | 'subscriptions'> & { imports: Imports }
