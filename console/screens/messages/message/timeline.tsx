import { useEffect } from 'react'
import { useCall } from '../../../api.ts'
import { Loaded } from '../../../kit/page.tsx'
import { Moment, type Tone } from '../../../kit/show.tsx'

interface HistoryProps {
  id: string
  /** Rises with every change of the message, and triggers a refresh, also after the last one. */
  sequence: number
  live: { every?: number }
}

const tones: Record<string, Tone> = {
  delivered: 'good',
  received: 'good',
  undelivered: 'bad',
  rejected: 'bad',
  failed: 'bad',
  expired: 'bad',
  unconfirmed: 'warning',
  canceled: 'warning',
  sent: 'busy',
}

export function Timeline({ id, sequence, live }: HistoryProps) {
  const call = useCall('getMessageTimeline', { path: { id } }, live)
  const { refetch } = call
  useEffect(() => {
    void refetch()
  }, [refetch, sequence])
  return (
    <Loaded call={call}>
      {({ data }) => (
        <ol className="steps" aria-label="Timeline">
          {data.map(({ at, type, detail, carrier_message_id: carrierId, possible_duplicate: isDouble }, n) => (
            <li key={n} className={tones[type]}>
              {detail}
              {isDouble && ' The carrier may have it twice.'}
              <div className="small">
                <Moment at={at} />
                {carrierId && (
                  <>
                    {' · '}
                    <code>{carrierId}</code>
                  </>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}
