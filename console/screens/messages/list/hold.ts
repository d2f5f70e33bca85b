/** Keeps a live list still while somebody reads it: rows change in place, and new ones are counted. */
import { useEffect, useState } from 'react'

interface Held<Row> {
  rows: readonly Row[]
  /** New rows that are not shown yet. */
  fresh: number
  show: () => void
}

/** `isSame`: the answer is to the present question; otherwise nothing is held. `question`: another one shows its rows at once. */
export function useHeld<Row extends { id: string }>(
  answer: readonly Row[],
  { question, isSame, isHeld }: { question: string; isSame: boolean; isHeld: boolean },
): Held<Row> {
  const [kept, keep] = useState({ question, answer })
  const now = { question: isSame ? question : '', answer }
  const holds = isHeld && kept.question === now.question
  if (!holds && (kept.answer !== answer || kept.question !== now.question)) keep(now)
  return { ...(holds ? hold(kept.answer, answer) : { rows: answer, fresh: 0 }), show: () => keep(now) }
}

export function hold<Row extends { id: string }>(before: readonly Row[], now: readonly Row[]): Omit<Held<Row>, 'show'> {
  const changed = new Map(now.map((row) => [row.id, row]))
  const known = new Set(before.map(({ id }) => id))
  return {
    rows: before.map((row) => changed.get(row.id) ?? row),
    fresh: now.filter(({ id }) => !known.has(id)).length,
  }
}

/** So far down, the reader has left the newest rows. Pixels. */
const readingPx = 80

/** Whether the pointer or the focus is in an element, or the page is scrolled. */
export function useIsRead(): { isRead: boolean; around: object } {
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const [isScrolled, setScrolled] = useState(() => scrollY > readingPx)
  useEffect(() => {
    const look = () => setScrolled(scrollY > readingPx)
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [])
  return {
    isRead: isPointed || isFocused || isScrolled,
    around: {
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: () => setFocused(false),
    },
  }
}
