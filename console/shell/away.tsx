/** An unreachable installation is reported once, above every screen; old data stays below. */
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
            <strong>The installation does not answer.</strong> What is shown is what it said last.
          </p>
          <Button onClick={() => void queries.refetchQueries({ type: 'active' })}>Ask again</Button>
        </div>
      )}
    </div>
  )
}
