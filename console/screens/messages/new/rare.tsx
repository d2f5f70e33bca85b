/** What is seldom said of a message. */
import { Fold } from '../../../kit/fold.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import type { Change, Draft } from './draft.ts'

export function RareFields({ draft, change }: { draft: Draft; change: Change }) {
  return (
    <Fold title="More: encoding, limits, what becomes of it, tags">
      <CheckField
        label="Replace typographic characters"
        name="smart_encoding"
        value={draft.isSmart}
        onChange={(isSmart) => change({ isSmart })}
        hint="Curly quotes, dashes, ellipses and special spaces, where this alone brings the text into GSM-7. Never for codes."
      />
      <CheckField
        label="Shorten addresses"
        name="shorten_urls"
        value={draft.isShortened}
        onChange={(isShortened) => change({ isShortened })}
        hint="A short link of its own in the place of each address in the text, and clicks are counted."
      />
      <CheckField
        label="Remove the text when the message is over"
        name="retain_content"
        value={draft.isForgotten}
        onChange={(isForgotten) => change({ isForgotten })}
      />
      <div className="fields">
        <SelectField
          label="Encoding"
          name="encoding"
          value={draft.encoding}
          onChange={(encoding) => change({ encoding })}
          options={[
            ['', 'GSM-7 where the text allows it'],
            ['gsm7', 'GSM-7, or refuse it'],
            ['ucs2', 'UCS-2'],
          ]}
        />
        <TextField
          label="Validity period"
          name="validity_period"
          inputMode="numeric"
          value={draft.validity}
          onChange={(validity) => change({ validity })}
          hint="Seconds for which it is of use, up to 259200; the campaign’s or 36000 otherwise."
        />
        <TextField
          label="Most segments"
          name="max_segments"
          inputMode="numeric"
          value={draft.maxSegments}
          onChange={(maxSegments) => change({ maxSegments })}
          hint="A text that needs more is refused."
        />
        <TextField
          label="Highest price"
          name="max_price/amount"
          inputMode="decimal"
          value={draft.maxPrice}
          onChange={(maxPrice) => change({ maxPrice })}
          hint="By the estimate. Where no price is known it is sent."
        />
        {draft.maxPrice !== '' && (
          <TextField
            label="Currency"
            name="max_price/currency"
            value={draft.currency}
            onChange={(currency) => change({ currency: currency.toUpperCase() })}
            hint="Three letters, such as EUR."
          />
        )}
        <SelectField
          label="When the carrier does not answer"
          name="on_unknown"
          value={draft.onUnknown}
          onChange={(onUnknown) => change({ onUnknown })}
          options={[
            ['', 'As the campaign, account or link says'],
            ['hold', 'Hold it as unconfirmed'],
            ['resend', 'Send it again, perhaps twice'],
          ]}
        />
        <TextField
          label="Callback address"
          name="callback_url"
          type="url"
          value={draft.callbackUrl}
          onChange={(callbackUrl) => change({ callbackUrl })}
          hint="Gets this message’s events instead of the account’s webhooks."
        />
        <TextField
          label="Tags"
          name="tags"
          value={draft.tags}
          onChange={(tags) => change({ tags })}
          hint="For filters, with commas between them."
        />
      </div>
      <TextArea
        label="Metadata"
        name="metadata"
        rows={2}
        value={draft.metadata}
        onChange={(metadata) => change({ metadata })}
        hint="Yours, returned with the message and in its events. A line each, as booking=77."
      />
    </Fold>
  )
}
