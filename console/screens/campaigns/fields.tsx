/** Rarely used fields are folded. */
import { CallbackField, TagsField, UnknownField, ValidityField } from '../../compose/fields.tsx'
import { SenderField } from '../../compose/sender.tsx'
import { Fold } from '../../kit/fold.tsx'
import { CheckField, SelectField, TextField } from '../../kit/form.tsx'
import { typeOf, typeOptions } from '../../kit/message-types.ts'
import { TimezoneField } from '../../kit/timezone-field.tsx'
import { oneOf } from '../../kit/typed.ts'
import { TemplateField } from './choices.tsx'
import type { CampaignDraft } from './draft.ts'
import { MessageField } from './message-field.tsx'
import { PairsField } from '../../compose/pairs.tsx'

interface CampaignFieldsProps {
  draft: CampaignDraft
  onChange: (change: Partial<CampaignDraft>) => void
  isNew?: boolean
  /** Its id, once it is created. */
  campaign?: string
}

export function CampaignFields({ draft, onChange, isNew = false, campaign }: CampaignFieldsProps) {
  return (
    <>
      <div className="fields">
        <TextField
          label="Name"
          name="name"
          value={draft.name}
          onChange={(name) => onChange({ name })}
          autoFocus={isNew}
          required
        />
        {isNew && (
          <TextField
            label="Key"
            name="key"
            value={draft.key}
            onChange={(key) => onChange({ key })}
            hint="Optional. Your own ID for API calls. It can’t be changed later."
            spellCheck={false}
          />
        )}
      </div>
      <TextField
        label="Description"
        name="description"
        value={draft.description}
        onChange={(description) => onChange({ description })}
      />
      <div className="fields">
        <SelectField
          label="Message type"
          name="type"
          value={draft.type}
          onChange={(type) => onChange({ type: typeOf(type) ?? '' })}
          options={typeOptions('Set for each message')}
          hint="Broadcasts are marketing unless you choose another type."
        />
        <SenderField value={draft.sender} onChange={(sender) => onChange({ sender })} />
      </div>
      <TextOfBroadcasts draft={draft} onChange={onChange} {...(campaign && { campaign })} />
      <div className="fields">
        <TextField
          label="Default country"
          name="default_country"
          maxLength={2}
          placeholder="GB"
          value={draft.defaultCountry}
          onChange={(defaultCountry) => onChange({ defaultCountry })}
          hint="For imported numbers without a country code. Two letters, such as GB."
        />
        <TimezoneField
          value={draft.timezone}
          onChange={(timezone) => onChange({ timezone })}
          hint="For contacts without a time zone of their own."
        />
      </div>
      <Fold title="More options: sending rate, quiet hours, links, callbacks, tags">
        <Rare draft={draft} onChange={onChange} />
      </Fold>
    </>
  )
}

function TextOfBroadcasts({ draft, onChange, campaign }: CampaignFieldsProps) {
  return (
    <>
      <SelectField
        label="Broadcast message"
        name="text"
        value={draft.textKind}
        onChange={(kind) => onChange({ textKind: oneOf(['message', 'template'], kind, 'none') })}
        options={[
          ['none', 'Write one for each broadcast'],
          ['message', 'Always the same message'],
          ['template', 'Use a template'],
        ]}
      />
      {draft.textKind === 'message' && (
        <MessageField campaign={campaign} value={draft.message} onChange={(message) => onChange({ message })} />
      )}
      {draft.textKind === 'template' && (
        <TemplateField
          value={draft.template}
          onChange={(template) => onChange({ template })}
          none="Choose a template"
        />
      )}
      {draft.textKind !== 'none' && (
        <PairsField
          label="Field values for everyone"
          nameLabel="Field"
          hint="They override the contact’s own values."
          pairs={draft.variables}
          onChange={(variables) => onChange({ variables })}
        />
      )}
    </>
  )
}

function Rare({ draft, onChange }: CampaignFieldsProps) {
  return (
    <>
      <div className="fields">
        <TextField
          label="Sending rate"
          name="pace"
          inputMode="decimal"
          value={draft.pace}
          onChange={(pace) => onChange({ pace })}
          hint="Maximum segments per second. Leave empty for full speed."
        />
        <ValidityField
          value={draft.validityPeriod}
          onChange={(validityPeriod) => onChange({ validityPeriod })}
          hint="36,000"
        />
        <UnknownField
          value={draft.onUnknown}
          onChange={(onUnknown) => onChange({ onUnknown })}
          none="Default (the account’s)"
        />
        <SelectField
          label="Quiet hours"
          name="quiet_hours"
          value={draft.quiet}
          onChange={(quiet) => onChange({ quiet: oneOf(['off', 'own'], quiet, 'account') })}
          options={[
            ['account', 'Default (the account’s)'],
            ['off', 'None'],
            ['own', 'Custom'],
          ]}
          hint="In each recipient’s time zone. One-time codes are never held."
        />
        {draft.quiet === 'own' && (
          <>
            <TextField
              label="From"
              name="quiet_hours/start"
              type="time"
              value={draft.quietStart}
              onChange={(quietStart) => onChange({ quietStart })}
            />
            <TextField
              label="Until"
              name="quiet_hours/end"
              type="time"
              value={draft.quietEnd}
              onChange={(quietEnd) => onChange({ quietEnd })}
              hint="Messages continue at this time."
            />
          </>
        )}
      </div>
      <CheckField
        label="Shorten links and count clicks"
        name="shorten_urls"
        value={draft.shortenUrls}
        onChange={(shortenUrls) => onChange({ shortenUrls })}
      />
      <CallbackField value={draft.callbackUrl} onChange={(callbackUrl) => onChange({ callbackUrl })} />
      <TagsField value={draft.tags} onChange={(tags) => onChange({ tags })} />
      <PairsField label="Metadata" pairs={draft.metadata} onChange={(metadata) => onChange({ metadata })} />
    </>
  )
}
