import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { problems, type App } from '../ground/http/http.ts'
import { QueueSchema, renderQueue } from './show.ts'
import { createQueueReader, type QueueReader } from './queue.ts'
import { listLinks } from '../links/carrier-store.ts'

export interface LiveContext {
  db: Db
  /** Counts the queue; by default its own reader. */
  readQueue?: QueueReader
}

export function liveRoutes(app: App, { db, readQueue = createQueueReader(db) }: LiveContext): void {
  app.addSchema(QueueSchema)

  app.get(
    '/v1/queue',
    {
      schema: {
        operationId: 'getQueue',
        summary: 'Get the queue',
        tags: ['Carriers'],
        response: { 200: Type.Ref('Queue'), ...problems() },
      },
      config: { scope: 'carriers:read' },
    },
    async () => {
      const [state, links] = await Promise.all([readQueue(), listLinks(db)])
      return renderQueue(state, links)
    },
  )
}
