/** What the routes of events need of the program. */
import type { WebhooksContext } from './http.ts'
import type { Watch } from './watch.ts'
import type { StreamOptions } from './stream.ts'

export interface EventsContext extends WebhooksContext {
  /** To be closed before the application, which waits for its connections. */
  watch: Watch
  /** Given by tests only. */
  streamTimes?: Pick<StreamOptions, 'heartbeatMs' | 'stallMs'>
}
