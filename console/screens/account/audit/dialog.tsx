import type { AuditEvent } from '@heliogram/sdk'
import { Dialog } from '../../../kit/dialog.tsx'
import { Copy, Facts, Moment } from '../../../kit/show.tsx'

interface AuditDialogProps {
  of: AuditEvent
  /** Name of the user or key. */
  actor: string
  onClose: () => void
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '–'))

export function AuditDialog({ of, actor, onClose }: AuditDialogProps) {
  const { before, after } = of
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return (
    <Dialog title={of.action} onClose={onClose}>
      <div className="form">
        <Facts
          facts={[
            ['When', <Moment key="when" at={of.created_at} />],
            ['Who', actor],
            ['From', of.ip],
            ['What', of.target && <Copy key="target" text={of.target} />],
            ['Request', of.request_id && <code key="request">{of.request_id}</code>],
            ['Number', of.seq],
            ['Hash', <code key="hash">{of.hash}</code>],
          ]}
        />
        {names.length > 0 && (
          <dl className="diff">
            {names.map((name) => (
              <div key={name}>
                <dt>
                  <strong>{name}</strong>
                </dt>
                {before && (
                  <dd>
                    <span className="hint">before</span>
                    <code>{textOf(before[name])}</code>
                  </dd>
                )}
                {after && (
                  <dd>
                    <span className="hint">after</span>
                    <code>{textOf(after[name])}</code>
                  </dd>
                )}
              </div>
            ))}
          </dl>
        )}
      </div>
    </Dialog>
  )
}
