/** Who the person is: the contact, the campaign, and where else they are. */
import type { Contact, Conversation } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Allowed } from '../../../kit/may.tsx'
import { Facts, PhoneNumber, Time } from '../../../kit/show.tsx'

export function Person({ of }: { of: Conversation }) {
  const { campaign: campaignId, contact: contactId, their_number: theirs } = of
  const isKnown = campaignId !== null && contactId !== null
  const contact = useCall(
    'getContact',
    { path: { campaign: campaignId ?? '', contact: contactId ?? '' } },
    { enabled: isKnown, isSide: true },
  ).data
  const campaign = useCall(
    'getCampaign',
    { path: { campaign: campaignId ?? '' } },
    { enabled: campaignId !== null, isSide: true },
  ).data
  return (
    <aside className="person" aria-label="Person">
      <h2>{(isKnown && contact && nameOf(contact)) || <PhoneNumber of={theirs} />}</h2>
      <Facts
        facts={[
          ['Number', <PhoneNumber key="" of={theirs} />],
          ['Your number', <PhoneNumber key="" of={of.our_number} />],
          [
            'Campaign',
            campaignId && <Link href={`/campaigns/${campaignId}`}>{campaign?.name ?? 'Open the campaign'}</Link>,
          ],
          ...(isKnown && contact ? factsOf(contact) : []),
          ['First reply', <Time key="" at={of.created_at} />],
        ]}
      />
      <ul className="links">
        {isKnown && (
          <Allowed to="getContact">
            <li>
              <Link href={`/campaigns/${campaignId}/contacts/${contactId}`}>Contact</Link>
            </li>
          </Allowed>
        )}
        <li>
          <Link href={`/messages?to=${theirs}`}>Messages to this number</Link>
        </li>
        <Allowed to="getOptOut">
          <li>
            <Link href={`/opt-outs/${encodeURIComponent(theirs)}`}>Opt-outs and consent</Link>
          </li>
        </Allowed>
      </ul>
    </aside>
  )
}

const nameOf = ({ first_name: first, last_name: last }: Contact): string => [first, last].filter(Boolean).join(' ')

const factsOf = (contact: Contact): [string, string | null][] => [
  ['Language', contact.language],
  ['Tags', contact.tags.join(', ') || null],
  ...Object.entries(contact.attributes).map(([name, value]): [string, string] => [name, String(value)]),
]
