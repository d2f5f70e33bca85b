/** What few broadcasts say. */
import { CheckField, SelectField, TextField } from '../../../kit/form.tsx'
import { oneOf } from '../../../kit/typed.ts'
import { PairsField } from '../pairs.tsx'
import type { SendDraft } from './draft.ts'

interface RareFieldsProps {
  draft: SendDraft
  onChange: (change: Partial<SendDraft>) => void
}

export function RareSendFields({ draft, onChange }: RareFieldsProps) {
  return (
    <>
      <div className="fields">
        <TextField
          label="Validity"
          name="validity_period"
          inputMode="decimal"
          value={draft.validityPeriod}
          onChange={(validityPeriod) => onChange({ validityPeriod })}
          hint="Seconds for which it is of use; the campaign’s or 36,000 otherwise."
        />
        <SelectField
          label="Encoding"
          name="encoding"
          value={draft.encoding}
          onChange={(encoding) => onChange({ encoding: oneOf(['auto', 'gsm7', 'ucs2'], encoding, '') })}
          options={[
            ['', 'GSM-7 where the text allows it'],
            ['gsm7', 'GSM-7'],
            ['ucs2', 'UCS-2'],
          ]}
        />
        <TextField
          label="Segments of a message, at most"
          name="max_segments"
          inputMode="decimal"
          value={draft.maxSegments}
          onChange={(maxSegments) => onChange({ maxSegments })}
          hint="A text that needs more is refused."
        />
        <SelectField
          label="When the carrier does not answer"
          name="on_unknown"
          value={draft.onUnknown}
          onChange={(onUnknown) => onChange({ onUnknown: oneOf(['hold', 'resend'], onUnknown, '') })}
          options={[
            ['', 'As the campaign says'],
            ['hold', 'Hold the message as unconfirmed'],
            ['resend', 'Send it again, perhaps twice'],
          ]}
        />
        <SelectField
          label="Short links"
          name="shorten_urls"
          value={draft.shortenUrls}
          onChange={(shortenUrls) => onChange({ shortenUrls: oneOf(['yes', 'no'], shortenUrls, '') })}
          options={[
            ['', 'As the campaign says'],
            ['yes', 'Shorten addresses, and count clicks'],
            ['no', 'Leave addresses as they are'],
          ]}
        />
        <TextField
          label="Price of a message, at most"
          name="max_price/amount"
          inputMode="decimal"
          value={draft.maxAmount}
          onChange={(maxAmount) => onChange({ maxAmount })}
          hint="By the estimate. Where no price is known it is sent."
        />
        {draft.maxAmount !== '' && (
          <TextField
            label="Currency"
            name="max_price/currency"
            placeholder="EUR"
            maxLength={3}
            value={draft.maxCurrency}
            onChange={(maxCurrency) => onChange({ maxCurrency })}
          />
        )}
      </div>
      <CheckField
        label="Replace typographic characters where this alone brings the text into GSM-7"
        name="smart_encoding"
        value={draft.smartEncoding}
        onChange={(smartEncoding) => onChange({ smartEncoding })}
      />
      <CheckField
        label="Remove the text as soon as a message is over"
        name="retain_content"
        value={draft.isForgotten}
        onChange={(isForgotten) => onChange({ isForgotten })}
      />
      <TextField
        label="Callback address"
        name="callback_url"
        type="url"
        value={draft.callbackUrl}
        onChange={(callbackUrl) => onChange({ callbackUrl })}
        hint="Gets the events of its messages instead of the account’s webhooks."
      />
      <TextField
        label="Tags of its messages"
        name="tags"
        value={draft.tags}
        onChange={(tags) => onChange({ tags })}
        hint="For filters, with commas between them."
      />
      <PairsField label="Metadata" pairs={draft.metadata} onChange={(metadata) => onChange({ metadata })} />
    </>
  )
}
