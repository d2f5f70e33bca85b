/** Who is logged in, how the console looks, and the way out. The browser's own popover closes at Escape and at a click elsewhere. */
import { useRef } from 'react'
import { Link } from 'wouter'
import { Icon, type IconName } from '../kit/icon.tsx'
import { logOut, type Login } from '../session/session.ts'
import { setLook, useLook, type Look } from './look.ts'

const themes: readonly [Look['theme'], string, IconName][] = [
  ['', 'System', 'monitor'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
]
const densities: readonly [Look['density'], string][] = [
  ['', 'Comfortable'],
  ['compact', 'Compact'],
]

export function AccountMenu({ login: { account, user }, onHelp }: { login: Login; onHelp: () => void }) {
  const panel = useRef<HTMLDivElement>(null)
  const close = () => panel.current?.hidePopover()
  return (
    <>
      <button type="button" className="account" popoverTarget="account-menu" title={user.email}>
        <span>
          <strong>{account}</strong>
          <span>{user.email}</span>
        </span>
        <Icon name="updown" />
      </button>
      <div ref={panel} id="account-menu" popover="auto" className="account-menu" role="group" aria-label="Account">
        <Choice label="Theme" name="theme" options={themes} />
        <Choice label="Density" name="density" options={densities} />
        <ul>
          <li>
            <Link href="/me" onClick={close}>
              <Icon name="settings" /> Your login
            </Link>
          </li>
          <li>
            <a href="/docs" target="_blank" rel="noreferrer">
              <Icon name="book" /> Manual
            </a>
          </li>
          <li>
            <button
              type="button"
              onClick={() => {
                close()
                onHelp()
              }}
            >
              <Icon name="keyboard" /> Keyboard shortcuts <kbd>?</kbd>
            </button>
          </li>
          <li>
            <button type="button" onClick={() => void logOut()}>
              <Icon name="logout" /> Log out
            </button>
          </li>
        </ul>
      </div>
    </>
  )
}

interface ChoiceProps {
  label: string
  name: keyof Look
  options: readonly (readonly [value: string, title: string, icon?: IconName])[]
}

function Choice({ label, name, options }: ChoiceProps) {
  const chosen = useLook(name)
  return (
    <div className="look" role="radiogroup" aria-label={label}>
      {options.map(([value, title, icon]) => (
        <label key={value}>
          <input type="radio" name={name} checked={chosen === value} onChange={() => setLook({ [name]: value })} />
          {icon && <Icon name={icon} />} {title}
        </label>
      ))}
    </div>
  )
}
