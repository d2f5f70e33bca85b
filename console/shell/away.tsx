/** An unreachable server is reported once, above every screen; old data stays below. */
import { notifyManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { queries } from '../api.ts'
import { Button } from '../kit/button.tsx'
import { isAway } from '../kit/problem.tsx'

const cache = queries.getQueryCache()

/** Whether a visible query got no response at its last try. */
const isAnyAway = (): boolean => cache.getAll().some((query) => query.isActive() && isAway(query.state.error))

const watch = (tell: () => void): (() => void) => cache.subscribe(notifyManager.batchCalls(tell))

export function Away() {
  const away = useSyncExternalStore(watch, isAnyAway)
  return (
    <div role="status">
      {away && (
        <div className="notice away">
          <p>
            <strong>Can’t reach the server.</strong> This page shows the last data received.
          </p>
          <Button onClick={() => void queries.refetchQueries({ type: 'active' })}>Retry</Button>
        </div>
      )}
    </div>
  )
}
