import type { Campaign } from '@heliogram/sdk'
import { RareFields } from '../../../compose/rare-fields.tsx'
import { SenderField } from '../../../compose/sender.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { typeOf, typeOptions } from '../../../kit/message-types.ts'
import { oneOf } from '../../../kit/typed.ts'
import { TemplateField } from '../choices.tsx'
import { MessageField } from '../message-field.tsx'
import { PairsField } from '../../../compose/pairs.tsx'
import type { SendDraft } from './draft.ts'

interface SendFieldsProps {
  campaign: Campaign
  draft: SendDraft
  onChange: (change: Partial<SendDraft>) => void
}

export function SendFields({ campaign, draft, onChange }: SendFieldsProps) {
  const hasText = campaign.message !== null || campaign.template !== null
  return (
    <>
      <SelectField
        label="Message"
        name="text"
        value={draft.textKind}
        onChange={(kind) => onChange({ textKind: oneOf(['campaign', 'template'], kind, 'message') })}
        options={[
          ...(hasText ? ([['campaign', 'The campaign’s message']] as const) : []),
          ['message', 'Write a message'],
          ['template', 'Use a template'],
        ]}
      />
      {draft.textKind === 'campaign' && campaign.message && <p className="sample">{campaign.message}</p>}
      {draft.textKind === 'message' && (
        <MessageField campaign={campaign.id} value={draft.message} onChange={(message) => onChange({ message })} />
      )}
      {draft.textKind === 'template' && (
        <TemplateField
          value={draft.template}
          onChange={(template) => onChange({ template })}
          none="Choose a template"
        />
      )}
      <TextField
        label="Only contacts tagged"
        name="audience/tags"
        value={draft.audience}
        onChange={(audience) => onChange({ audience })}
        hint="Tags, separated by commas. Leave empty to send to all contacts of the campaign."
      />
      <When draft={draft} onChange={onChange} />
      <div className="fields">
        <SenderField
          value={draft.sender}
          onChange={(sender) => onChange({ sender })}
          {...((campaign.from || campaign.sender_pool) && { none: 'The campaign’s sender' })}
        />
        <SelectField
          label="Type"
          name="type"
          value={draft.type}
          onChange={(type) => onChange({ type: typeOf(type) ?? '' })}
          options={typeOptions(campaign.type ? 'Default (the campaign’s)' : 'Marketing').filter(
            ([value]) => campaign.type !== null || value !== 'marketing',
          )}
          hint="One-time codes go first, marketing last. Marketing waits for the end of quiet hours."
        />
        <TextField
          label="Sending rate"
          name="max_rate"
          inputMode="decimal"
          value={draft.maxRate}
          onChange={(maxRate) => onChange({ maxRate })}
          hint="Maximum segments per minute. Leave empty for full speed."
        />
      </div>
      <Fold title="More options: field values, encoding, links, limits, tags">
        <PairsField
          label="Field values for everyone"
          nameLabel="Field"
          hint="They override the contact’s own values."
          pairs={draft.variables}
          onChange={(variables) => onChange({ variables })}
        />
        <RareFields draft={draft} onChange={onChange} />
      </Fold>
    </>
  )
}

function When({ draft, onChange }: Omit<SendFieldsProps, 'campaign'>) {
  return (
    <div className="fields">
      <SelectField
        label="When"
        name="when"
        value={draft.when}
        onChange={(when) => onChange({ when: oneOf(['at', 'local'], when, 'now') })}
        options={[
          ['now', 'Now'],
          ['at', 'At a time'],
          ['local', 'At a time in each recipient’s time zone'],
        ]}
      />
      {draft.when !== 'now' && (
        <TextField
          label={draft.when === 'at' ? 'Start (your time)' : 'Start (their time)'}
          name={draft.when === 'at' ? 'send_at' : 'send_at_local'}
          type="datetime-local"
          value={draft.at}
          onChange={(at) => onChange({ at })}
          hint={draft.when === 'local' ? 'Recipients whose local time is already later get it at once.' : undefined}
        />
      )}
    </div>
  )
}
