import type { WebhooksContext } from './http.ts'
import type { Watch } from './watch.ts'
import type { StreamOptions } from './stream.ts'

export interface EventsContext extends WebhooksContext {
  /** Close it before the application, which waits for its connections. */
  watch: Watch
  /** For tests. */
  streamTimes?: Pick<StreamOptions, 'heartbeatMs' | 'stallMs'>
}
