import type { AuditEvent } from '@heliogram/sdk'
import { Link } from 'wouter'
import { None } from '../../../kit/show.tsx'

const screens: Record<string, string> = {
  acc: '/accounts',
  car: '/carriers',
  key: '/keys',
  smc: '/keys/smpp',
  usr: '/people',
  whk: '/webhooks',
}

export function Target({ of: { action, target } }: { of: AuditEvent }) {
  if (target === null) return <None />
  const screen = target === 'settings' ? '/settings' : screens[target.split('_', 1)[0] ?? '']
  if (screen === undefined || /\.(deleted|revoked|removed)$/.test(action)) return <code>{target}</code>
  return (
    <Link href={target === 'settings' ? screen : `${screen}/${target}`}>
      <code>{target}</code>
    </Link>
  )
}
