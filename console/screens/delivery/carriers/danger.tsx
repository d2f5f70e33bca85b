import type { Carrier } from '@heliogram/sdk'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { DangerZone } from '../../../kit/danger-zone.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'

export function CarrierDangers({ carrier: { id, name, enabled } }: { carrier: Carrier }) {
  const [, go] = useLocation()
  const update = useAction('updateCarrier', 'Carrier disabled.')
  const remove = useAction('deleteCarrier', 'Carrier deleted.')
  return (
    <>
      {enabled && (
        <DangerZone
          does="updateCarrier"
          title="Disable this carrier"
          about="Its links finish their messages and disconnect."
        >
          <ConfirmButton
            does="updateCarrier"
            label="Disable carrier"
            question={`Messages queued for ${name} go to the next carrier of their route, or wait until ${name} is enabled again.`}
            onConfirm={() => update.run({ path: { id }, body: { enabled: false } })}
            isBusy={update.isBusy}
            problem={update.problem}
          />
        </DangerZone>
      )}
      <DangerZone
        does="deleteCarrier"
        title="Delete this carrier"
        about="Its links, status mappings and rates are deleted with it."
      >
        <ConfirmButton
          does="deleteCarrier"
          label="Delete carrier"
          question={`${name} is deleted with its links, status mappings and rates. If senders or routes use it, give them another carrier first.`}
          onConfirm={async () => {
            const done = await remove.run({ path: { id } })
            if (done) go('/carriers')
            return done
          }}
          isBusy={remove.isBusy}
          problem={remove.problem}
        />
      </DangerZone>
    </>
  )
}
