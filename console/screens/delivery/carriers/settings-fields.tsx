/** Fields for settings; groups with a title are folded. */
import { CheckField, SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import { Fold } from '../../../kit/fold.tsx'
import type { Draft, FieldGroup, FieldSpec } from './fields.ts'

interface OneProps {
  spec: FieldSpec
  /** The member of the request body. */
  part: 'settings' | 'secrets'
  draft: Draft
  set: (name: string, value: string) => void
  /** For a link: empty means the carrier's. */
  isOverride?: boolean
}

export function SettingField({
  spec: { name, label, hint, kind, options },
  part,
  draft,
  set,
  isOverride = false,
}: OneProps) {
  const common = {
    label,
    name: `${part}/${name}`,
    hint,
    value: draft[name] ?? '',
    onChange: (value: string) => set(name, value),
  }
  const carriers = ['', 'The carrier’s'] as const
  if (options) return <SelectField {...common} options={isOverride ? [carriers, ...options] : options} />
  if (kind === 'check' && isOverride)
    return <SelectField {...common} options={[carriers, ['true', 'Yes'], ['false', 'No']]} />
  if (kind === 'check')
    return <CheckField {...common} value={common.value === 'true'} onChange={(value) => set(name, String(value))} />
  if (kind === 'json' || kind === 'long')
    return <TextArea {...common} rows={Math.min(12, Math.max(3, common.value.split('\n').length))} spellCheck={false} />
  const type = kind === 'secret' ? { type: 'password', autoComplete: 'new-password' } : {}
  return (
    <TextField
      {...common}
      {...type}
      {...(kind === 'number' && { inputMode: 'decimal' as const })}
      {...(isOverride && { placeholder: 'The carrier’s' })}
      spellCheck={false}
    />
  )
}

interface AllProps extends Pick<OneProps, 'draft' | 'set' | 'isOverride'> {
  groups: readonly FieldGroup[]
}

export function SettingGroups({ groups, ...rest }: AllProps) {
  return groups.map(({ title, fields }) => {
    const wide = ['json', 'long', 'check']
    const isWide = fields.every(({ kind }) => wide.includes(kind ?? 'text'))
    const inner = (
      <div className={isWide ? 'form' : 'fields'}>
        {fields.map((spec) => (
          <SettingField key={spec.name} spec={spec} part="settings" {...rest} />
        ))}
      </div>
    )
    return title === null ? (
      <div key="first">{inner}</div>
    ) : (
      <Fold key={title} title={title}>
        {inner}
      </Fold>
    )
  })
}
