/** Shown in place of the reply box if the person has opted out. */
import type { Conversation } from '@heliogram/sdk'
import { Link } from 'wouter'
import { Allowed } from '../../../kit/may.tsx'
import { Moment } from '../../../kit/show.tsx'
import { tellSource } from '../opt-outs/source.ts'

export function OptedOut({ of: { their_number, opt_out } }: { of: Conversation }) {
  if (!opt_out) return null
  return (
    <div className="notice opted-out" role="status">
      <p>
        <strong>This person has opted out.</strong> You can’t reply: messages to this number are refused.
      </p>
      <p>
        Opted out <Moment at={opt_out.created_at} /> ({tellSource(opt_out.source)}).
        {opt_out.source === 'reply' && ' They can opt in again by sending START.'}
        <Allowed to="getOptOut">
          {' '}
          <Link href={`/opt-outs/${encodeURIComponent(their_number)}`}>View the opt-out</Link>
        </Allowed>
      </p>
    </div>
  )
}
