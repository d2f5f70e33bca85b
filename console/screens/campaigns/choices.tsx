/** Fields that choose among what the account has. Where the API does not say what there is, what is chosen stays. */
import { useCall } from '../../api.ts'
import { SelectField } from '../../kit/form.tsx'
import { tellNumber } from '../../kit/number.ts'

interface ChoiceProps {
  value: string
  onChange: (value: string) => void
  /** What is meant where nothing is chosen. */
  none: string
}

/** A sender (`from:…`) or a pool of them (`pool:…`). */
export function SenderField({ value, onChange, none }: ChoiceProps) {
  const senders = useCall('listSenders', { query: { limit: 100 } })
  const pools = useCall('listSenderPools', { query: { limit: 100 } })
  const options: [string, string][] = [
    ['', none],
    ...(senders.data?.data ?? []).map(({ number }): [string, string] => [`from:${number}`, tellNumber(number)]),
    ...(pools.data?.data ?? []).map(({ id, name }): [string, string] => [`pool:${id}`, `Pool ${name}`]),
  ]
  return (
    <SelectField
      label="From"
      name={value.startsWith('pool:') ? 'sender_pool' : 'from'}
      hint="One of your senders, or a pool that chooses one for each recipient."
      value={value}
      onChange={onChange}
      options={withChosen(options, value, tellNumber(value.replace(/^(from|pool):/, '')))}
    />
  )
}

export function TemplateField({ value, onChange, none }: ChoiceProps) {
  const templates = useCall('listTemplates', { query: { limit: 100 } })
  const options: [string, string][] = [
    ['', none],
    ...(templates.data?.data ?? []).map(({ id, name, languages }): [string, string] => [
      id,
      [name, ...Object.keys(languages)].join(' · '),
    ]),
  ]
  return (
    <SelectField
      label="Template"
      name="template"
      hint="Each recipient gets the text in their language, where the template has it."
      value={value}
      onChange={onChange}
      options={withChosen(options, value, value)}
    />
  )
}

const withChosen = (options: [string, string][], value: string, text: string): [string, string][] =>
  options.some(([one]) => one === value) ? options : [...options, [value, text]]
