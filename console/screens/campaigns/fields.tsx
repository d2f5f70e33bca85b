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
}

export function CampaignFields({ draft, onChange, isNew = false }: CampaignFieldsProps) {
  return (
    <>
      <div className="fields">
        <TextField
          label="Name"
          name="name"
          value={draft.name}
          onChange={(name) => onChange({ name })}
          hint="For people."
          autoFocus={isNew}
          required
        />
        {isNew && (
          <TextField
            label="Key"
            name="key"
            value={draft.key}
            onChange={(key) => onChange({ key })}
            hint="A name of your own for programs, usable wherever its id is; it stays."
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
          label="Type of its messages"
          name="type"
          value={draft.type}
          onChange={(type) => onChange({ type: typeOf(type) ?? '' })}
          options={typeOptions('As each send says')}
          hint="Broadcasts are marketing where nothing says otherwise."
        />
        <SenderField value={draft.sender} onChange={(sender) => onChange({ sender })} />
      </div>
      <TextOfBroadcasts draft={draft} onChange={onChange} />
      <div className="fields">
        <TextField
          label="Default country"
          name="default_country"
          maxLength={2}
          placeholder="GB"
          value={draft.defaultCountry}
          onChange={(defaultCountry) => onChange({ defaultCountry })}
          hint="Two letters: where imported numbers without a country code are from."
        />
        <TimezoneField
          value={draft.timezone}
          onChange={(timezone) => onChange({ timezone })}
          hint="Of contacts that have none of their own."
        />
      </div>
      <Fold title="Pace, validity, quiet hours, links, callbacks, labels">
        <Rare draft={draft} onChange={onChange} />
      </Fold>
    </>
  )
}

function TextOfBroadcasts({ draft, onChange }: CampaignFieldsProps) {
  return (
    <>
      <SelectField
        label="Text of its broadcasts"
        name="text"
        value={draft.textKind}
        onChange={(kind) => onChange({ textKind: oneOf(['message', 'template'], kind, 'none') })}
        options={[
          ['none', 'Each broadcast brings its own'],
          ['message', 'This text'],
          ['template', 'A template'],
        ]}
      />
      {draft.textKind === 'message' && (
        <MessageField value={draft.message} onChange={(message) => onChange({ message })} />
      )}
      {draft.textKind === 'template' && (
        <TemplateField value={draft.template} onChange={(template) => onChange({ template })} none="Choose one" />
      )}
      {draft.textKind !== 'none' && (
        <PairsField
          label="Values that are the same for all"
          nameLabel="Field"
          hint="They go before those of a contact."
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
          label="Pace"
          name="pace"
          inputMode="decimal"
          value={draft.pace}
          onChange={(pace) => onChange({ pace })}
          hint="Segments a second of all its messages, over all carriers. Empty: as the links allow."
        />
        <ValidityField
          value={draft.validityPeriod}
          onChange={(validityPeriod) => onChange({ validityPeriod })}
          hint="36,000"
        />
        <UnknownField
          value={draft.onUnknown}
          onChange={(onUnknown) => onChange({ onUnknown })}
          none="As the account or the link says"
        />
        <SelectField
          label="Quiet hours"
          name="quiet_hours"
          value={draft.quiet}
          onChange={(quiet) => onChange({ quiet: oneOf(['off', 'own'], quiet, 'account') })}
          options={[
            ['account', 'As the account has them'],
            ['off', 'None'],
            ['own', 'Its own'],
          ]}
          hint="On the clock of each recipient. Codes are never held."
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
              hint="The first minute that is not quiet any more."
            />
          </>
        )}
      </div>
      <CheckField
        label="Shorten addresses in texts, and count clicks"
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
