import type { ApiKey } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { DangerZone } from '../../../kit/danger-zone.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { KeySecret } from '../../../kit/key-secret.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { RotateDialog } from '../../../kit/rotate-dialog.tsx'
import { Badge, Copy, Facts, Moment, Time } from '../../../kit/show.tsx'
import { ChangeKeyDialog } from './change.tsx'
import { Ends } from './ends.tsx'

export function KeyScreen() {
  const { id = '' } = useParams()
  const key = useCall('getApiKey', { path: { id } }, { every: 10_000 })
  return (
    <Page title={key.data?.name ?? 'API key'} back={{ to: '/keys', title: 'API keys' }}>
      <Loaded call={key}>{(one) => <Key key={one.id} of={one} />}</Loaded>
    </Page>
  )
}

function Key({ of }: { of: ApiKey }) {
  const [, go] = useLocation()
  const [secret, setSecret] = useState<string>()
  const [open, setOpen] = useState<'change' | 'rotate'>()
  const rotate = useAction('rotateApiKey', 'API key rotated')
  const revoke = useAction('revokeApiKey', 'API key revoked', () => go('/keys'))
  const close = () => setOpen(undefined)
  const rotateIt = async (seconds: number) => {
    const done = await rotate.run({ path: { id: of.id }, body: { overlap_seconds: seconds } })
    if (!done) return
    close()
    setSecret(done.answer.secret)
  }
  return (
    <>
      {secret !== undefined && <KeySecret secret={secret} scopes={of.scopes} onClose={() => setSecret(undefined)} />}
      <div className="buttons">
        <Button does="updateApiKey" onClick={() => setOpen('change')}>
          Edit
        </Button>
        <Button
          does="rotateApiKey"
          onClick={() => {
            rotate.reset()
            setOpen('rotate')
          }}
        >
          Rotate
        </Button>
      </div>
      <div className="card below">
        <Facts
          facts={[
            ['ID', <Copy key="id" text={of.id} />],
            ['Prefix', <code key="prefix">{of.prefix}</code>],
            ['Mode', <Badge key="mode" status={of.mode} />],
            ['Scopes', of.scopes.join(', ')],
            ['Allowed networks', of.ip_allow.length > 0 ? of.ip_allow.join(', ') : 'all'],
            ['Last used', <Time key="used" at={of.last_used_at} />],
            ['Created', <Moment key="made" at={of.created_at} />],
            ['Expires', <Ends key="ends" of={of} />],
            [
              'Old secret',
              of.overlap_ends_at && (
                <>
                  works until <Moment at={of.overlap_ends_at} />
                </>
              ),
            ],
          ]}
        />
      </div>
      <DangerZone does="revokeApiKey" title="Revoke this key" about="Servers that use it lose access at once.">
        <ConfirmButton
          does="revokeApiKey"
          label="Revoke key"
          question={`Servers that use ${of.name}, and logins made with it, lose access within five seconds. This cannot be undone.`}
          onConfirm={() => revoke.run({ path: { id: of.id } })}
          isBusy={revoke.isBusy}
          problem={revoke.problem}
        />
      </DangerZone>
      {open === 'change' && <ChangeKeyDialog of={of} onClose={close} />}
      {open === 'rotate' && (
        <RotateDialog
          title="Rotate key"
          name="overlap_seconds"
          label="Expire the old secret"
          none="immediately"
          hint="Rotating again ends this period, and the logins made with the older secret."
          onRotate={rotateIt}
          onClose={close}
          isBusy={rotate.isBusy}
          problem={rotate.problem}
        />
      )}
    </>
  )
}
