/** When to send: by presets, or on the clock of a zone. */
import '../style/compose.css'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/form.tsx'
import { Moment, Time } from '../kit/show.tsx'
import { TimezoneField } from '../kit/timezone-field.tsx'
import { isZone, momentIn, presetsOf, wallTime } from './schedule.ts'

interface ScheduleProps {
  /** As `2026-11-28T09:00`; empty: now. */
  at: string
  zone: string
  onChange: (change: { sendAt?: string; zone?: string }) => void
}

export function ScheduleField({ at, zone, onChange }: ScheduleProps) {
  const presets = isZone(zone) ? presetsOf(new Date(), zone) : []
  return (
    <div className="schedule">
      <div className="fields">
        <TextField
          label="Send at"
          name="send_at"
          type="datetime-local"
          value={at}
          onChange={(sendAt) => onChange({ sendAt })}
          hint={<When at={at} zone={zone} />}
        />
        {at !== '' && (
          <TimezoneField
            value={zone}
            // The moment stays, and its name on the clock changes.
            onChange={(next) =>
              onChange({ zone: next, ...(isZone(zone) && isZone(next) && { sendAt: rename(at, zone, next) }) })
            }
          />
        )}
      </div>
      <div className="buttons" role="group" aria-label="Times to send at">
        <Button aria-pressed={at === ''} onClick={() => onChange({ sendAt: '' })}>
          Now
        </Button>
        {presets.map(({ name, local }) => (
          <Button key={name} aria-pressed={at === local} onClick={() => onChange({ sendAt: local })}>
            {name}
          </Button>
        ))}
      </div>
    </div>
  )
}

function rename(at: string, from: string, to: string): string {
  const moment = new Date(momentIn(from, at))
  return Number.isNaN(moment.getTime()) ? at : wallTime(moment, to)
}

function When({ at, zone }: { at: string; zone: string }) {
  if (at === '') return 'Leave empty to send now.'
  const moment = momentIn(zone, at)
  if (Number.isNaN(Date.parse(moment)) || moment === at) return 'Up to 365 days ahead.'
  return (
    <>
      <Time at={moment} />, <Moment at={moment} />
    </>
  )
}
