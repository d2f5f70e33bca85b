import { CheckField, SelectField, TextField } from '../kit/form.tsx'
import { oneOf } from '../kit/typed.ts'
import { CallbackField, TagsField, UnknownField, ValidityField } from './fields.tsx'
import { PairsField } from './pairs.tsx'
import type { RareDraft } from './rare.ts'

interface RareFieldsProps {
  draft: RareDraft
  onChange: (change: Partial<RareDraft>) => void
}

export function RareFields({ draft, onChange }: RareFieldsProps) {
  return (
    <>
      <CheckField
        label="Replace typographic characters"
        name="smart_encoding"
        value={draft.isSmart}
        onChange={(isSmart) => onChange({ isSmart })}
        hint="Curly quotes, dashes, ellipses and special spaces, if the text then fits GSM-7. Never for one-time codes."
      />
      <CheckField
        label="Redact the text when the message is final"
        name="retain_content"
        value={draft.isForgotten}
        onChange={(isForgotten) => onChange({ isForgotten })}
      />
      <div className="fields">
        <SelectField
          label="Encoding"
          name="encoding"
          value={draft.encoding}
          onChange={(encoding) => onChange({ encoding: oneOf(['gsm7', 'ucs2'], encoding, '') })}
          options={[
            ['', 'Automatic (GSM-7 if possible)'],
            ['gsm7', 'GSM-7 only'],
            ['ucs2', 'UCS-2 only'],
          ]}
        />
        <SelectField
          label="Short links"
          name="shorten_urls"
          value={draft.shortenUrls}
          onChange={(shortenUrls) => onChange({ shortenUrls: oneOf(['yes', 'no'], shortenUrls, '') })}
          options={[
            ['', 'Default (the campaign’s setting)'],
            ['yes', 'Shorten links and count clicks'],
            ['no', 'Keep links as written'],
          ]}
        />
        <ValidityField
          value={draft.validity}
          onChange={(validity) => onChange({ validity })}
          hint="the campaign’s, or 36,000"
        />
        <UnknownField
          value={draft.onUnknown}
          onChange={(onUnknown) => onChange({ onUnknown })}
          none="Default (campaign, account or link)"
        />
        <TextField
          label="Maximum segments"
          name="max_segments"
          inputMode="numeric"
          value={draft.maxSegments}
          onChange={(maxSegments) => onChange({ maxSegments })}
          hint="A longer text is refused."
        />
        <TextField
          label="Maximum price"
          name="max_price/amount"
          inputMode="decimal"
          value={draft.maxPrice}
          onChange={(maxPrice) => onChange({ maxPrice })}
          hint="Compared with the estimate. A message without a known price is sent."
        />
        {draft.maxPrice !== '' && (
          <TextField
            label="Currency"
            name="max_price/currency"
            placeholder="EUR"
            maxLength={3}
            value={draft.currency}
            onChange={(currency) => onChange({ currency })}
            hint="Three letters, such as EUR."
          />
        )}
        <CallbackField value={draft.callbackUrl} onChange={(callbackUrl) => onChange({ callbackUrl })} />
        <TagsField value={draft.tags} onChange={(tags) => onChange({ tags })} />
      </div>
      <PairsField
        label="Metadata"
        hint="Your own values, returned with the message and in its events."
        pairs={draft.metadata}
        onChange={(metadata) => onChange({ metadata })}
      />
    </>
  )
}
