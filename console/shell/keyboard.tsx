/** Shortcuts: Ctrl or ⌘ and `k` opens the palette, `g` and a letter goes to a screen, `/` to the filter, `n` creates something, `?` shows help. */
import { lazy, Suspense, use, useEffect, useRef, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { Dialog } from '../kit/dialog.tsx'
import { Scopes } from '../kit/may.tsx'
import { loadPart } from '../kit/outdated.ts'
import { placesFor } from './sections.ts'

const Palette = lazy(() => loadPart(() => import('./palette.tsx')))

/** As this system writes them. */
export const paletteKeys = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'

/** Time for the letter after `g`. Milliseconds. */
const chordMs = 1500

/** `front`: the help or the palette, while one is open. */
export function useKeyboard(): { front: ReactNode; openHelp: () => void; openPalette: () => void } {
  const [, go] = useLocation()
  const [shown, setShown] = useState<'help' | 'palette'>()
  const chordUntil = useRef(0)
  const places = placesFor(use(Scopes))
    .flatMap(({ tabs }) => tabs)
    .filter(({ key }) => key !== undefined)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault()
        setShown((now) => (now === 'palette' ? undefined : 'palette'))
        return
      }
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, .dialog, .popup') !== null
      if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return
      const isChord = Date.now() < chordUntil.current
      chordUntil.current = 0
      const place = isChord && places.find(({ key }) => key === event.key)
      if (place) go(place.to)
      else if (event.key === 'g') chordUntil.current = Date.now() + chordMs
      else if (event.key === '?') setShown('help')
      else if (event.key === '/') focusFirst('.filters :is(input, select, button)')
      else {
        const own = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(event.key)}"]`)
        if (own === null) return
        press(own)
      }
      event.preventDefault()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
  const openHelp = () => setShown('help')
  const openPalette = () => setShown('palette')
  const close = () => setShown(undefined)
  if (shown === undefined) return { front: null, openHelp, openPalette }
  if (shown === 'palette')
    return {
      front: (
        <Suspense>
          <Palette onClose={close} onHelp={openHelp} />
        </Suspense>
      ),
      openHelp,
      openPalette,
    }
  const keys: [string, string][] = [
    [paletteKeys, 'Search or jump to'],
    ...places.map(({ key, title }): [string, string] => [`g ${key}`, title]),
    ['/', 'Filter the list'],
    ['n', 'New'],
    ['j', 'Next row or conversation'],
    ['k', 'Previous row or conversation'],
    ['Enter', 'Open the row'],
    ['x', 'Select the row'],
    ['r', 'Reply'],
    ['e', 'Close or reopen the conversation'],
    ['Esc', 'Close what is in front'],
    ['?', 'This help'],
  ]
  const front = (
    <Dialog title="Keyboard" onClose={close}>
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
  return { front, openHelp, openPalette }
}

/** With focus, so that dialogs return to it. */
function press(button: HTMLElement): void {
  button.focus()
  button.click()
}

function focusFirst(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus()
}
