import type { Message } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { useMay } from '../../../kit/may.tsx'
import { Copy, Facts, Money, Moment, PhoneNumber, tellCount } from '../../../kit/show.tsx'

export function MessageFacts({ of: message }: { of: Message }) {
  const { metadata = {}, tags = [] } = message
  return (
    <>
      <Facts
        facts={[
          ['To', message.to && <PhoneNumber of={message.to} />],
          ['From', message.from ? <PhoneNumber of={message.from} /> : 'The carrier’s own sender'],
          ['Type', message.type],
          ['Keyword', message.keyword],
          ['Sent by', message.automatic ? 'Auto-reply to a keyword' : undefined],
          ['Length', tellLength(message)],
          ['Price', message.price && <Money of={message.price} />],
          ['Estimated price', !message.price && message.estimated_price && <Money of={message.estimated_price} />],
          ['Carrier', message.route && <CarrierLink id={message.route.carrier} />],
          ['Attempts', message.attempts],
          ['Campaign', message.campaign && <CampaignLink id={message.campaign} />],
          [
            'Conversation',
            message.conversation && <Link href={`/conversations/${message.conversation}`}>Open conversation</Link>,
          ],
          ['Test mode', message.test ? 'Yes. Not sent to a carrier.' : undefined],
          [message.direction === 'outbound' ? 'Accepted' : 'Received', <Moment key="at" at={message.created_at} />],
          ['Scheduled for', message.send_at && <Moment at={message.send_at} />],
          ['Expected to send', message.estimated_send_at && <Moment at={message.estimated_send_at} />],
          ['Completed', message.completed_at && <Moment at={message.completed_at} />],
          ['Expires', !message.final && message.expires_at && <Moment at={message.expires_at} />],
          ['If the carrier doesn’t answer', message.on_unknown && tellUnknown[message.on_unknown]],
          ['Callback address', message.callback_url && <code>{message.callback_url}</code>],
          [
            'Tags',
            tags.length > 0 &&
              tags.map((tag) => (
                <Link key={tag} href={`/messages?tag=${encodeURIComponent(tag)}`} className="tag">
                  {tag}
                </Link>
              )),
          ],
          ['Message ID', <Copy key="id" text={message.id} />],
          ['Carrier message ID', message.provider_message_id && <code>{message.provider_message_id}</code>],
          ['Contact', message.contact && <code>{message.contact}</code>],
        ]}
      />
      {Object.keys(metadata).length > 0 && (
        <>
          <h3 className="sub">Metadata</h3>
          <Facts facts={Object.entries(metadata)} />
        </>
      )}
    </>
  )
}

const tellUnknown = { hold: 'Hold as unconfirmed', resend: 'Resend, perhaps twice' }

function tellLength({ segments, segments_delivered: delivered = 0, encoding, characters, direction }: Message): string {
  const parts = `${tellCount(segments, 'segment')} of ${encoding}, ${tellCount(characters, 'character')}`
  return direction === 'outbound' && segments > 1 ? `${parts}; ${delivered} delivered` : parts
}

/** Named if the login may read carriers. */
function CarrierLink({ id }: { id: string }) {
  const isOperator = useMay('listCarriers')
  const { data, error } = useCall('getCarrier', { path: { id } }, { enabled: isOperator })
  if (isOperator && !data && !error) return null
  return data ? <Link href={`/carriers/${id}`}>{data.name}</Link> : <code>{id}</code>
}

function CampaignLink({ id }: { id: string }) {
  const { data, error } = useCall('getCampaign', { path: { campaign: id } })
  if (!data && !error) return null
  return <Link href={`/campaigns/${id}`}>{data?.name ?? id}</Link>
}
