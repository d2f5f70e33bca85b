/** Shortcuts: `g` and a letter goes to a screen, `/` to the filter, `n` creates something, `?` shows help. */
import { use, useEffect, useRef, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { Dialog } from '../kit/dialog.tsx'
import { Scopes } from '../kit/may.tsx'
import { placesFor } from './sections.ts'

/** Time for the letter after `g`. Milliseconds. */
const chordMs = 1500

/** `help`: shown while it is open. */
export function useKeyboard(): { help: ReactNode; openHelp: () => void } {
  const [, go] = useLocation()
  const [isHelp, setHelp] = useState(false)
  const chordUntil = useRef(0)
  const places = placesFor(use(Scopes))
    .flatMap(({ tabs }) => tabs)
    .filter(({ key }) => key !== undefined)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null
      if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return
      const isChord = Date.now() < chordUntil.current
      chordUntil.current = 0
      const place = isChord && places.find(({ key }) => key === event.key)
      if (place) go(place.to)
      else if (event.key === 'g') chordUntil.current = Date.now() + chordMs
      else if (event.key === '?') setHelp(true)
      else if (event.key === '/') focusFirst('.filters input, .filters select')
      else if (event.key === 'n') press(document.querySelector<HTMLElement>('[data-key="n"]'))
      else return
      event.preventDefault()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
  const openHelp = () => setHelp(true)
  if (!isHelp) return { help: null, openHelp }
  const keys: [string, string][] = [
    ...places.map(({ key, title }): [string, string] => [`g ${key}`, title]),
    ['/', 'Filter the list'],
    ['n', 'New'],
    ['Esc', 'Close what is in front'],
    ['?', 'This help'],
  ]
  const help = (
    <Dialog title="Keyboard" onClose={() => setHelp(false)}>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
  return { help, openHelp }
}

/** With focus, so that dialogs return to it. */
function press(button: HTMLElement | null): void {
  button?.focus()
  button?.click()
}

function focusFirst(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus()
}
