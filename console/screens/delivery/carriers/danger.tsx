import type { Carrier } from '@heliogram/sdk'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Allowed } from '../../../kit/may.tsx'
import { Section } from '../../../kit/page.tsx'

export function DangerZone({ carrier: { id, name, enabled } }: { carrier: Carrier }) {
  const [, go] = useLocation()
  const update = useAction('updateCarrier', 'Carrier disabled.')
  const remove = useAction('deleteCarrier', 'Carrier deleted.')
  return (
    <Allowed to="updateCarrier">
      <Section title="Danger zone">
        <div className="card danger-zone">
          {enabled && (
            <div>
              <p>
                <strong>Disable this carrier.</strong> Its links finish their messages and disconnect.
              </p>
              <ConfirmButton
                does="updateCarrier"
                label="Disable"
                question={
                  <p>
                    Messages queued for {name} go to the next carrier of their route, or wait until {name} is enabled
                    again.
                  </p>
                }
                onConfirm={() => update.run({ path: { id }, body: { enabled: false } })}
                isBusy={update.isBusy}
                problem={update.problem}
              />
            </div>
          )}
          <div>
            <p>
              <strong>Delete this carrier.</strong> With its links, status mappings and rates.
            </p>
            <ConfirmButton
              does="deleteCarrier"
              label="Delete"
              question={
                <p>
                  {name} is deleted with its links, status mappings and rates. If senders or routes use it, give them
                  another carrier first.
                </p>
              }
              onConfirm={async () => {
                const done = await remove.run({ path: { id } })
                if (done) go('/carriers')
                return done
              }}
              isBusy={remove.isBusy}
              problem={remove.problem}
            />
          </div>
        </div>
      </Section>
    </Allowed>
  )
}
