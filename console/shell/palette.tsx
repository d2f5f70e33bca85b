/** Finds screens, actions, campaigns, people and messages by some letters, and opens them. Loaded when it is opened first. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import type { OperationName } from '@heliogram/sdk'
import { use, useState } from 'react'
import { useLocation } from 'wouter'
import { useDebounced } from '../kit/debounced.ts'
import { Icon } from '../kit/icon.tsx'
import { isAllowed, Scopes } from '../kit/may.tsx'
import { actionsFor, screensFor, type Item } from './actions.ts'
import { find, readDirect } from './find.ts'
import { recentVisits } from './recent.ts'
import '../style/palette.css'

interface Group {
  title: string
  items: Item[]
}

/** Milliseconds without a key before the API is asked. */
const pauseMs = 150

export default function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState('')
  const [, go] = useLocation()
  const groups = useGroups(text, onHelp)
  const run = ({ does }: Item) => {
    onClose()
    if (typeof does === 'string') go(does)
    else does()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="palette-backdrop" />
        <Dialog.Popup className="palette" aria-label="Search or jump to">
          <Autocomplete.Root
            items={groups}
            value={text}
            onValueChange={(value, { reason }) => reason !== 'item-press' && setText(value)}
            itemToStringValue={(item: Item) => item.title}
            mode="none"
            open
            inline
            autoHighlight="always"
            keepHighlight
          >
            <div className="palette-input">
              <Icon name="search" />
              <Autocomplete.Input
                aria-label="Search"
                placeholder="Search for a message, number, campaign or action …"
              />
              <kbd>Esc</kbd>
            </div>
            <Autocomplete.Empty className="palette-empty">
              Nothing found for “{text}”. Try a phone number, a message ID or the name of a screen.
            </Autocomplete.Empty>
            <Autocomplete.List className="palette-list">
              {(group: Group) => (
                <Autocomplete.Group key={group.title} items={group.items}>
                  <Autocomplete.GroupLabel className="palette-group">{group.title}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: Item) => (
                      <Autocomplete.Item
                        key={`${item.title} ${typeof item.does === 'string' ? item.does : ''}`}
                        value={item}
                        className="palette-item"
                        onClick={() => run(item)}
                      >
                        <Icon name={item.icon} />
                        <span>{item.title}</span>
                        {item.detail && <span className="palette-detail">{item.detail}</span>}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useGroups(text: string, onHelp: () => void): Group[] {
  const scopes = use(Scopes)
  const may = (name: OperationName) => isAllowed(scopes, name)
  const settled = useDebounced(text.trim(), pauseMs)
  const found = useQuery({
    queryKey: ['palette', settled],
    queryFn: ({ signal }) => find(settled, may, signal),
    enabled: settled.length > 1,
    placeholderData: (before) => before,
  })
  const fits = fitsOf(text)
  const groups: Group[] = [
    { title: 'Go to', items: readDirect(text, may) },
    {
      title: 'Recent',
      items: recentVisits()
        .map(({ title, to }): Item => ({ title, icon: 'clock', does: to }))
        .filter(fits),
    },
    { title: 'Found', items: text.trim().length > 1 ? (found.data ?? []) : [] },
    { title: 'Actions', items: actionsFor(scopes, onHelp).filter(fits) },
    { title: 'Screens', items: screensFor(scopes).filter(fits) },
  ]
  return groups.filter(({ items }) => items.length > 0)
}

/** Each word begins a word of the title or of its other words. */
function fitsOf(text: string): (item: Item) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ title, words: others = '' }) => {
    const all = `${title} ${others}`.toLowerCase().split(/[\s-]+/)
    return words.every((word) => all.some((one) => one.startsWith(word)))
  }
}
