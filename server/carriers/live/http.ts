/** The routes of the live view besides a carrier's own: the queue, and one link. For the operator. */
import { Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { ApiError } from '../../errors.ts'
import { problems, type App } from '../../http.ts'
import { parseId } from '../../ids.ts'
import { QueueSchema, renderQueue } from './show.ts'
import { readTimes } from './live.ts'
import { createQueueReader, type QueueReader } from './queue.ts'
import { renderLink } from '../show.ts'
import { listLinks } from '../store.ts'

interface LiveContext {
  db: Db
  /** Counts what waits; by default a reader of its own. */
  readQueue?: QueueReader
}

/** Registers `/v1/queue` and `GET /v1/links/{id}`. */
export function liveRoutes(app: App, { db, readQueue = createQueueReader(db) }: LiveContext): void {
  app.addSchema(QueueSchema)

  app.get(
    '/v1/queue',
    {
      schema: {
        operationId: 'getQueue',
        summary: 'See what waits to be sent, by type and carrier',
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

  app.get(
    '/v1/links/:id',
    {
      schema: {
        operationId: 'getLink',
        summary: 'Get the live state of a link',
        tags: ['Carriers'],
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a link.' }) }),
        response: { 200: Type.Ref('Link'), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const id = parseId('lnk', request.params.id)
      const [links, times] = await Promise.all([listLinks(db), readTimes(db)])
      const link = links.find((one) => one.id === id)
      if (!link) throw new ApiError('not_found', { detail: 'There is no such link.' })
      return renderLink(link, times)
    },
  )
}
