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
        label="What it says"
        name="text"
        value={draft.textKind}
        onChange={(kind) => onChange({ textKind: oneOf(['campaign', 'template'], kind, 'message') })}
        options={[
          ...(hasText ? ([['campaign', 'The text of the campaign']] as const) : []),
          ['message', 'A text of its own'],
          ['template', 'A template'],
        ]}
      />
      {draft.textKind === 'campaign' && campaign.message && <p className="sample">{campaign.message}</p>}
      {draft.textKind === 'message' && (
        <MessageField value={draft.message} onChange={(message) => onChange({ message })} />
      )}
      {draft.textKind === 'template' && (
        <TemplateField value={draft.template} onChange={(template) => onChange({ template })} none="Choose one" />
      )}
      <TextField
        label="Only contacts with one of these tags"
        name="audience/tags"
        value={draft.audience}
        onChange={(audience) => onChange({ audience })}
        hint="Commas between them. Empty: all contacts of the campaign. To have it on your own phone first, send to a tag that only you have."
      />
      <When draft={draft} onChange={onChange} />
      <div className="fields">
        <SenderField
          value={draft.sender}
          onChange={(sender) => onChange({ sender })}
          {...((campaign.from || campaign.sender_pool) && { none: 'The campaign’s' })}
        />
        <SelectField
          label="Type"
          name="type"
          value={draft.type}
          onChange={(type) => onChange({ type: typeOf(type) ?? '' })}
          options={typeOptions(campaign.type ? 'The campaign’s' : 'Marketing').filter(
            ([value]) => campaign.type !== null || value !== 'marketing',
          )}
          hint="Codes go first, marketing last, and marketing keeps quiet hours."
        />
        <TextField
          label="At most, messages a minute"
          name="max_rate"
          inputMode="decimal"
          value={draft.maxRate}
          onChange={(maxRate) => onChange({ maxRate })}
          hint="It sets the campaign’s pace, of which each segment takes one. Empty: as the links allow."
        />
      </div>
      <Fold title="Values for all, validity, encoding, limits, links, labels">
        <PairsField
          label="Values that are the same for all"
          nameLabel="Field"
          hint="They go before those of a contact."
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
          ['at', 'At a time, for all'],
          ['local', 'At a time on each recipient’s clock'],
        ]}
      />
      {draft.when !== 'now' && (
        <TextField
          label={draft.when === 'at' ? 'Begins (your clock)' : 'Arrives (their clock)'}
          name={draft.when === 'at' ? 'send_at' : 'send_at_local'}
          type="datetime-local"
          value={draft.at}
          onChange={(at) => onChange({ at })}
          hint={draft.when === 'local' ? 'Where the time has passed already, the contact gets it at once.' : undefined}
        />
      )}
    </div>
  )
}
