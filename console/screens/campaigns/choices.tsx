/** Keeps the choice if the list is not available. */
import { useCall } from '../../api.ts'
import { SelectField } from '../../kit/form.tsx'

interface ChoiceProps {
  value: string
  onChange: (value: string) => void
  none: string
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
      hint="Each recipient gets it in their language, if the template has it."
      value={value}
      onChange={onChange}
      options={options.some(([one]) => one === value) ? options : [...options, [value, value]]}
    />
  )
}
