import { useCall } from '../../../api.ts'
import { SenderField } from '../../../compose/sender.tsx'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { typeOptions } from '../../../kit/message-types.ts'
import type { Change, Draft } from './draft.ts'

export function RoutingFields({ draft, change }: { draft: Draft; change: Change }) {
  const campaigns = useCall('listCampaigns', { query: { limit: 200 } })
  const known = campaigns.data?.data ?? []
  const isOther = draft.campaign !== '' && !known.some(({ id }) => id === draft.campaign)
  return (
    <div className="fields">
      <SenderField
        value={draft.sender}
        onChange={(sender) => change({ sender })}
        {...(draft.campaign && { none: 'The campaign’s, or the account’s default' })}
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
