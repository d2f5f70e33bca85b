/** From whom, for what and when. */
import { useCall } from '../../../api.ts'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { typeOptions } from '../../../kit/message-types.ts'
import { tellNumber } from '../../../kit/number.ts'
import type { Change, Draft } from './draft.ts'

export function RoutingFields({ draft, change }: { draft: Draft; change: Change }) {
  const senders = useCall('listSenders', { query: { limit: 200 } })
  const pools = useCall('listSenderPools', { query: { limit: 200 } })
  const campaigns = useCall('listCampaigns', { query: { limit: 200 } })
  const all = senders.data?.data ?? []
  const usual = all.find((sender) => sender.default)
  const known = campaigns.data?.data ?? []
  const isOther = draft.campaign !== '' && !known.some(({ id }) => id === draft.campaign)
  return (
    <div className="fields">
      <SelectField
        label="From"
        name={draft.sender.startsWith('pool:') ? 'sender_pool' : 'from'}
        value={draft.sender}
        onChange={(sender) => change({ sender })}
        options={[
          ['', usual ? `Default: ${tellNumber(usual.number)}` : 'The default'],
          ...all.map(({ number, kind, country }): [string, string] => [
            number,
            `${tellNumber(number)} (${[kind.replaceAll('_', ' '), country].filter(Boolean).join(', ')})`,
          ]),
          ...(pools.data?.data ?? []).map(({ id, name }): [string, string] => [`pool:${id}`, `Pool ${name}`]),
        ]}
        hint={
          senders.data && all.length === 0
            ? 'The account has no senders: the carrier puts its own, and nobody can reply.'
            : 'The campaign’s, where it has one, else the account’s default.'
        }
      />
      <SelectField
        label="Type"
        name="type"
        value={draft.type}
        onChange={(type) => change({ type })}
        options={typeOptions('The usual')}
        hint="The usual: the campaign’s, else transactional. Codes go first, marketing last."
      />
      <SelectField
        label="Campaign"
        name="campaign"
        value={draft.campaign}
        onChange={(campaign) => change({ campaign })}
        options={[
          ['', 'None'],
          ...(isOther ? [[draft.campaign, draft.campaign] as const] : []),
          ...known.map(({ id, name }) => [id, name] as const),
        ]}
        hint="With its defaults."
      />
      <TextField
        label="Send at"
        name="send_at"
        type="datetime-local"
        value={draft.sendAt}
        onChange={(sendAt) => change({ sendAt })}
        hint="By your clock; empty: now. Up to 365 days ahead."
      />
    </div>
  )
}
