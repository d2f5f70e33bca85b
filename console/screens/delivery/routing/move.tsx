/** Moves a route up or down. The focus stays on the button for repeated moves. */
import type { Route } from '@heliogram/sdk'
import { useEffect, useRef } from 'react'
import { useAction } from '../../../api.ts'
import { toast } from '../../../kit/toast.tsx'
import { Button } from '../../../kit/button.tsx'

export function MoveButtons({ route: { id, name, position }, isLast }: { route: Route; isLast: boolean }) {
  const move = useAction('updateRoute')
  const span = useRef<HTMLSpanElement>(null)
  const pressed = useRef<'up' | 'down' | null>(null)
  const called = name ?? `route ${position}`
  useEffect(() => {
    if (pressed.current === null || move.isBusy) return
    const wanted = span.current?.querySelector<HTMLButtonElement>(`[data-move="${pressed.current}"]:not(:disabled)`)
    const target = wanted ?? span.current?.querySelector<HTMLButtonElement>('button:not(:disabled)')
    target?.focus()
    pressed.current = null
  }, [position, move.isBusy])
  const go = async (way: 'up' | 'down') => {
    pressed.current = way
    const to = way === 'up' ? position - 1 : position + 1
    if (await move.run({ path: { id }, body: { position: to } })) toast(`${called} is now number ${to}.`)
  }
  return (
    <span className="row-buttons" ref={span}>
      <Button
        does="updateRoute"
        data-move="up"
        aria-label={`Move ${called} up`}
        disabled={position === 1 || move.isBusy}
        onClick={() => void go('up')}
      >
        ↑
      </Button>
      <Button
        does="updateRoute"
        data-move="down"
        aria-label={`Move ${called} down`}
        disabled={isLast || move.isBusy}
        onClick={() => void go('down')}
      >
        ↓
      </Button>
      {move.problem && <span className="fault">{move.problem.message}</span>}
    </span>
  )
}
