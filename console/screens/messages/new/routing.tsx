import { useCall } from '../../../api.ts'
import { SenderField } from '../../../compose/sender.tsx'
import { SelectField } from '../../../kit/form.tsx'
import { typeOptions } from '../../../kit/message-types.ts'
import type { Change, Draft } from './draft.ts'

export function RoutingFields({ draft, change }: { draft: Draft; change: Change }) {
  const campaigns = useCall('listCampaigns', { query: { limit: 200 } })
  const known = campaigns.data?.data ?? []
  const isOther = draft.campaign !== '' && !known.some(({ id }) => id === draft.campaign)
  return (
    <>
      <SenderField
        value={draft.sender}
        onChange={(sender) => change({ sender })}
        {...(draft.campaign && { none: 'Default (campaign or account)' })}
      />
      <div className="fields">
        <SelectField
          label="Type"
          name="type"
          value={draft.type}
          onChange={(type) => change({ type })}
          options={typeOptions(draft.campaign ? 'Default (the campaign’s)' : 'Default (transactional)')}
          hint="One-time codes go first, marketing last."
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
        />
      </div>
    </>
  )
}
