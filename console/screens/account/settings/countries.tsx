import { useState } from 'react'
import { Button } from '../../../kit/button.tsx'
import { countryOptions } from '../../../kit/country.ts'
import { SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import { numberFrom, wordsOf } from '../../../kit/typed.ts'
import { Group, type Settings, type SettingsChange } from './group.tsx'

interface Limit {
  /** Stays with the row when others are removed. */
  key: number
  country: string
  perHour: string
  action: 'block' | 'alert'
}

export function CountriesGroup({ of }: { of: Settings }) {
  const [allowed, setAllowed] = useState(of.allowed_countries.join(' '))
  const [limits, setLimits] = useState<readonly Limit[]>(() =>
    of.country_limits.map(({ country, per_hour, action }, key) => ({
      key,
      country,
      perHour: String(per_hour),
      action,
    })),
  )
  const put = (key: number, change: Partial<Limit>) =>
    setLimits(limits.map((one) => (one.key === key ? { ...one, ...change } : one)))
  const add = () => {
    const key = Math.max(-1, ...limits.map((one) => one.key)) + 1
    setLimits([...limits, { key, country: '', perHour: '1000', action: 'block' }])
  }
  const body = (): SettingsChange => ({
    allowed_countries: wordsOf(allowed.toUpperCase()),
    country_limits: limits.map(({ country, perHour, action }) => ({
      country,
      per_hour: numberFrom(perHour),
      action,
    })),
  })
  return (
    <Group title="Countries" body={body}>
      <TextArea
        label="Allowed countries"
        name="allowed_countries"
        rows={2}
        value={allowed}
        onChange={setAllowed}
        hint="Two-letter codes, such as US GB. Use * for all countries."
        spellCheck={false}
      />
      <div className="rows">
        {limits.map(({ key, country, perHour, action }, n) => (
          <div key={key} className="fields">
            <SelectField
              label="Country"
              name={`country_limits/${n}/country`}
              value={country}
              onChange={(value) => put(key, { country: value })}
              options={[['', 'Choose a country'], ...countryOptions]}
            />
            <TextField
              label="Messages per hour"
              name={`country_limits/${n}/per_hour`}
              inputMode="decimal"
              value={perHour}
              onChange={(value) => put(key, { perHour: value })}
            />
            <SelectField
              label="Above the limit"
              name={`country_limits/${n}/action`}
              value={action}
              onChange={(value) => put(key, { action: value === 'alert' ? 'alert' : 'block' })}
              options={[
                ['block', 'Stop messages'],
                ['alert', 'Alert only'],
              ]}
            />
            <Button
              onClick={() => setLimits(limits.filter((one) => one.key !== key))}
              aria-label={`Remove the limit for ${country || 'this country'}`}
            >
              Remove
            </Button>
          </div>
        ))}
        <div>
          <Button onClick={add}>Add country limit</Button>
        </div>
      </div>
    </Group>
  )
}
