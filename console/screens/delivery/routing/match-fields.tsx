import type { Route } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { wordsOf } from '../../../kit/typed.ts'
import { typeOf, typeOptions } from '../../../kit/message-types.ts'

export interface MatchDraft {
  account: string
  campaign: string
  type: string
  countries: string
  prefixes: string
  senders: string
}

export const matchDraftOf = ({
  account,
  campaign,
  type,
  countries,
  prefixes,
  senders,
}: Route['match']): MatchDraft => ({
  account: account ?? '',
  campaign: campaign ?? '',
  type: type ?? '',
  countries: (countries ?? []).join(', '),
  prefixes: (prefixes ?? []).join(', '),
  senders: (senders ?? []).join(', '),
})

export function readMatch({ account, campaign, type, countries, prefixes, senders }: MatchDraft): Route['match'] {
  const kind = typeOf(type)
  const digits = wordsOf(prefixes).map((prefix) => prefix.replace(/^\+/, ''))
  return {
    ...(account !== '' && { account }),
    ...(campaign !== '' && { campaign }),
    ...(kind && { type: kind }),
    ...(countries.trim() !== '' && { countries: wordsOf(countries).map((country) => country.toUpperCase()) }),
    ...(digits.length > 0 && { prefixes: digits }),
    // Sender names may contain blanks: only commas and lines separate them.
    ...(senders.trim() !== '' && {
      senders: senders
        .split(/[,;\n]/)
        .map((sender) => sender.trim())
        .filter((sender) => sender !== ''),
    }),
  }
}

export function MatchFields({
  draft,
  set,
}: {
  draft: MatchDraft
  set: (field: keyof MatchDraft, value: string) => void
}) {
  const accounts = useCall('listAccounts', { query: { limit: 100 } }, { isSide: true })
  const known = accounts.data?.data.map(({ id, name }) => [id, name] as const) ?? []
  const others = draft.account !== '' && !known.some(([id]) => id === draft.account)
  return (
    <fieldset className="group">
      <legend>Matches messages</legend>
      <div className="fields">
        <TextField
          label="To countries"
          name="match/countries"
          hint="Of the recipient: ISO 3166-1 codes, such as US, GB."
          value={draft.countries}
          onChange={(value) => set('countries', value)}
        />
        <TextField
          label="To prefixes"
          name="match/prefixes"
          hint="First digits of numbers, including the calling code."
          value={draft.prefixes}
          onChange={(value) => set('prefixes', value)}
        />
        <TextField
          label="From senders"
          name="match/senders"
          hint="Numbers or names, with commas between."
          value={draft.senders}
          onChange={(value) => set('senders', value)}
        />
        <SelectField
          label="Of type"
          name="match/type"
          value={draft.type}
          onChange={(value) => set('type', value)}
          options={typeOptions('Any')}
        />
        <SelectField
          label="Of account"
          name="match/account"
          value={draft.account}
          onChange={(value) => set('account', value)}
          options={[['', 'Any'], ...known, ...(others ? [[draft.account, draft.account] as const] : [])]}
        />
        {(draft.account !== '' || draft.campaign !== '') && (
          <TextField
            label="Of campaign"
            name="match/campaign"
            hint="Id or key of a campaign of the account."
            value={draft.campaign}
            onChange={(value) => set('campaign', value)}
          />
        )}
      </div>
      <p className="hint gap">
        All that is filled in must hold; of a list, one item. Nothing filled in: every message.
      </p>
    </fieldset>
  )
}
