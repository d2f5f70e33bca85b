/** Fields shared by messages, broadcasts and campaigns. */
import { SelectField, TextField } from '../kit/form.tsx'
import { oneOf } from '../kit/typed.ts'

interface FieldProps {
  value: string
  onChange: (value: string) => void
}

/** `hint`: the value if it is empty. */
export const ValidityField = ({ hint, ...rest }: FieldProps & { hint: string }) => (
  <TextField
    label="Validity period"
    name="validity_period"
    inputMode="decimal"
    hint={`In seconds, up to 259,200. Default: ${hint}.`}
    {...rest}
  />
)

interface UnknownProps {
  value: string
  onChange: (value: '' | 'hold' | 'resend') => void
  /** The meaning of no choice. */
  none: string
}

export const UnknownField = ({ value, onChange, none }: UnknownProps) => (
  <SelectField
    label="If the carrier doesn’t answer"
    name="on_unknown"
    value={value}
    onChange={(one) => onChange(oneOf(['hold', 'resend'], one, ''))}
    options={[
      ['', none],
      ['hold', 'Hold as unconfirmed'],
      ['resend', 'Resend, perhaps twice'],
    ]}
  />
)

export const CallbackField = (props: FieldProps) => (
  <TextField
    label="Callback address"
    name="callback_url"
    type="url"
    hint="Receives the events instead of the account’s webhooks."
    {...props}
  />
)

export const TagsField = (props: FieldProps) => (
  <TextField label="Tags" name="tags" hint="Up to 50 labels, separated by commas." {...props} />
)
