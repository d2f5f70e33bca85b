/** A route's carriers, one per row: with shares, or in order. */
import type { Route } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { numberFrom } from '../../../kit/typed.ts'

export interface Share {
  key: number
  carrier: string
  weight: string
  amount: string
  currency: string
}

let keys = 0

export const sharesOf = (entries: readonly Route['carriers'][number][]): Share[] =>
  entries.map(({ carrier, weight, cost }) => ({
    key: ++keys,
    carrier,
    weight: String(weight ?? 1),
    amount: cost?.amount ?? '',
    currency: cost?.currency ?? '',
  }))

/** Rows without a carrier were added and left empty. */
const filled = (shares: readonly Share[]) => shares.filter(({ carrier }) => carrier !== '')

const costOf = ({ amount, currency }: Share) => (amount === '' && currency === '' ? {} : { cost: { amount, currency } })

export const readShares = (shares: readonly Share[]): Route['carriers'] =>
  filled(shares).map((share) => ({ carrier: share.carrier, weight: numberFrom(share.weight), ...costOf(share) }))

export const readFailover = (shares: readonly Share[]): Route['failover'] =>
  filled(shares).map((share) => ({ carrier: share.carrier, ...costOf(share) }))

interface ChainProps {
  title: string
  hint: string
  part: 'carriers' | 'failover'
  hasWeight?: boolean
  shares: readonly Share[]
  set: (shares: readonly Share[]) => void
}

export function ChainFields({ title, hint, part, hasWeight = false, shares, set }: ChainProps) {
  const carriers = useCall('listCarriers', {}, { isSide: true })
  const options = [
    ['', 'None'] as const,
    ...(carriers.data?.data.map(({ id, name, enabled }) => [id, enabled ? name : `${name} (disabled)`] as const) ?? []),
  ]
  const change = (key: number, part_: Partial<Share>) =>
    set(shares.map((share) => (share.key === key ? { ...share, ...part_ } : share)))
  const raise = (n: number) => {
    const [one, other] = [shares[n - 1], shares[n]]
    if (one && other) set(shares.with(n - 1, other).with(n, one))
  }
  return (
    <fieldset className="group">
      <legend>{title}</legend>
      {shares.map((share, n) => (
        <div className="share" key={share.key}>
          <SelectField
            label="Carrier"
            name={`${part}/${n}/carrier`}
            value={share.carrier}
            onChange={(carrier) => change(share.key, { carrier })}
            options={options}
          />
          {hasWeight ? (
            <TextField
              label="Weight"
              name={`${part}/${n}/weight`}
              inputMode="numeric"
              value={share.weight}
              onChange={(weight) => change(share.key, { weight })}
            />
          ) : (
            <Button disabled={n === 0} aria-label={`Earlier than the one before: ${n + 1}`} onClick={() => raise(n)}>
              ↑
            </Button>
          )}
          <TextField
            label="Cost"
            name={`${part}/${n}/cost/amount`}
            placeholder="rate card"
            inputMode="decimal"
            value={share.amount}
            onChange={(amount) => change(share.key, { amount })}
          />
          <TextField
            label="Currency"
            name={`${part}/${n}/cost/currency`}
            value={share.currency}
            onChange={(currency) => change(share.key, { currency })}
          />
          <Button
            kind="quiet"
            aria-label={`Take away ${part} ${n + 1}`}
            onClick={() => set(shares.filter(({ key }) => key !== share.key))}
          >
            ✕
          </Button>
        </div>
      ))}
      <div className="buttons gap">
        <Button onClick={() => set([...shares, ...sharesOf([{ carrier: '' }])])}>
          {part === 'carriers' ? 'Add a carrier' : 'Add a carrier to fall back on'}
        </Button>
        <span className="hint">{hint}</span>
      </div>
    </fieldset>
  )
}
