import { useCall } from '../api.ts'
import { SelectField } from '../kit/form.tsx'
import { tellNumber } from '../kit/number.ts'

interface SenderProps {
  /** `from:` and a number or name, or `pool:` and a pool id. */
  value: string
  onChange: (value: string) => void
  /** The meaning of no choice; by default the account's default. */
  none?: string
}

/** In the API's form; `undefined` without a choice. */
export const senderOf = (value: string) => ({
  from: value.startsWith('from:') ? value.slice(5) : undefined,
  sender_pool: value.startsWith('pool:') ? value.slice(5) : undefined,
})

/** The field's value for the API's. */
export const senderValue = (from: string | null | undefined, pool: string | null | undefined): string =>
  from ? `from:${from}` : pool ? `pool:${pool}` : ''

/** Keeps the choice if the list is not available. */
export function SenderField({ value, onChange, none }: SenderProps) {
  const senders = useCall('listSenders', { query: { limit: 200 } })
  const pools = useCall('listSenderPools', { query: { limit: 200 } })
  const all = senders.data?.data ?? []
  const usual = all.find((sender) => sender.default)
  const options: [string, string][] = [
    ['', none ?? (usual ? `Account default (${tellNumber(usual.number)})` : 'Account default')],
    ...all.map(({ number, kind, country }): [string, string] => [
      `from:${number}`,
      `${tellNumber(number)} (${[kind.replaceAll('_', ' '), country].filter(Boolean).join(', ')})`,
    ]),
    ...(pools.data?.data ?? []).map(({ id, name }): [string, string] => [`pool:${id}`, `Pool ${name}`]),
  ]
  return (
    <SelectField
      label="From"
      name={value.startsWith('pool:') ? 'sender_pool' : 'from'}
      value={value}
      onChange={onChange}
      options={
        options.some(([one]) => one === value)
          ? options
          : [...options, [value, tellNumber(value.replace(/^(from|pool):/, ''))]]
      }
      hint={
        senders.data && all.length === 0
          ? 'The account has no senders. The carrier uses its own, and nobody can reply.'
          : 'A sender, or a pool that picks one for each recipient.'
      }
    />
  )
}
