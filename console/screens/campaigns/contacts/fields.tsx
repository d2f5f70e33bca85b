import { Fold } from '../../../kit/fold.tsx'
import { SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import { TimezoneField } from '../../../kit/timezone-field.tsx'
import { oneOf } from '../../../kit/typed.ts'
import { PairsField } from '../../../compose/pairs.tsx'
import type { ContactDraft } from './draft.ts'

interface ContactFieldsProps {
  draft: ContactDraft
  onChange: (change: Partial<ContactDraft>) => void
  isNew?: boolean
}

export function ContactFields({ draft, onChange, isNew = false }: ContactFieldsProps) {
  return (
    <>
      <TextField
        label="Phone number"
        name="phone_number"
        type="tel"
        value={draft.phoneNumber}
        onChange={(phoneNumber) => onChange({ phoneNumber })}
        hint="With its country code, such as +1 202 555 0123."
        autoFocus={isNew}
        required
      />
      <div className="fields">
        <TextField
          label="First name"
          name="first_name"
          value={draft.firstName}
          onChange={(firstName) => onChange({ firstName })}
        />
        <TextField
          label="Last name"
          name="last_name"
          value={draft.lastName}
          onChange={(lastName) => onChange({ lastName })}
        />
      </div>
      <TextField
        label="Tags"
        name="tags"
        value={draft.tags}
        onChange={(tags) => onChange({ tags })}
        hint="Separated by commas. A broadcast can go to contacts with a tag."
      />
      <PairsField
        label="Attributes"
        hint="Up to 50 values of your own. Messages can contain them as fields."
        pairs={draft.attributes}
        onChange={(attributes) => onChange({ attributes })}
      />
      <Fold title="External ID, language, country, time zone">
        <div className="fields">
          <TextField
            label="External ID"
            name="external_id"
            value={draft.externalId}
            onChange={(externalId) => onChange({ externalId })}
            hint="Your own ID of this person."
          />
          <TextField
            label="Language"
            name="language"
            placeholder="en-GB"
            value={draft.language}
            onChange={(language) => onChange({ language })}
            hint="Chooses the language of templates."
          />
          <TextField
            label="Country"
            name="country"
            maxLength={2}
            value={draft.country}
            onChange={(country) => onChange({ country })}
            hint="Two letters. Default: the country of the number."
          />
          <TimezoneField
            value={draft.timezone}
            onChange={(timezone) => onChange({ timezone })}
            hint="Default: the campaign’s, then that of the number."
          />
        </div>
      </Fold>
      <Fold title="Consent">
        <Consent draft={draft} onChange={onChange} />
      </Fold>
    </>
  )
}

function Consent({ draft, onChange }: ContactFieldsProps) {
  return (
    <>
      <SelectField
        label="Consent"
        name="consent"
        value={draft.consent}
        onChange={(consent) => onChange({ consent: oneOf(['opted_in', 'opted_out', 'unknown'], consent, '') })}
        options={[
          ['', 'Not recorded'],
          ['opted_in', 'Opted in'],
          ['opted_out', 'Opted out'],
          ['unknown', 'Unknown'],
        ]}
        hint="“Opted out” stops all messages of the account to this number. “Opted in” doesn’t undo an opt-out."
      />
      {draft.consent !== '' && (
        <>
          <div className="fields">
            <TextField
              label="Method"
              name="consent/method"
              placeholder="form"
              value={draft.consentMethod}
              onChange={(consentMethod) => onChange({ consentMethod })}
            />
            <TextField
              label="Source"
              name="consent/source"
              value={draft.consentSource}
              onChange={(consentSource) => onChange({ consentSource })}
            />
            <TextField
              label="Date"
              name="consent/obtained_at"
              type="datetime-local"
              value={draft.consentAt}
              onChange={(consentAt) => onChange({ consentAt })}
            />
          </div>
          <TextArea
            label="Consent text"
            name="consent/text"
            rows={2}
            value={draft.consentText}
            onChange={(consentText) => onChange({ consentText })}
          />
        </>
      )}
    </>
  )
}
