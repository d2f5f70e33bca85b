/** A button with a list of actions or choices. */
import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

interface MenuProps {
  label: string
  /** Shown instead of the label. */
  icon?: ReactNode
  className?: string
  kind?: 'plain' | 'quiet'
  children: ReactNode
}

/** Its children are items. */
export const Menu = ({ label, icon, className = '', kind = 'quiet', children }: MenuProps) => (
  <Base.Root modal={false}>
    <Base.Trigger
      render={<Button kind={kind} className={className} {...(icon !== undefined && { 'aria-label': label })} />}
    >
      {icon ?? label}
    </Base.Trigger>
    <Base.Portal>
      <Base.Positioner className="positioner" align="end" sideOffset={4}>
        <Base.Popup className="popup">{children}</Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

interface MenuCheckProps {
  isOn: boolean
  onChange: (isOn: boolean) => void
  children: ReactNode
}

export const MenuCheck = ({ isOn, onChange, children }: MenuCheckProps) => (
  <Base.CheckboxItem className="item" checked={isOn} onCheckedChange={onChange}>
    <span className="item-mark">
      <Base.CheckboxItemIndicator>✓</Base.CheckboxItemIndicator>
    </span>
    {children}
  </Base.CheckboxItem>
)

export const MenuItem = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <Base.Item className="item" onClick={onClick}>
    {children}
  </Base.Item>
)
