/** With insertable fields of the recipient. */
import { useRef } from 'react'
import { useCall } from '../../api.ts'
import { FilterSelect } from '../../kit/filter-inputs.tsx'
import { tellCount } from '../../kit/show.tsx'
import { Button } from '../../kit/button.tsx'
import { TextArea, useFault } from '../../kit/form.tsx'

/** Whether a text can use it: not if it has spaces. */
export const isFieldName = (name: string): boolean => /^[\p{L}_][\p{L}\p{M}\p{N}_.-]*$/u.test(name)

interface MessageFieldProps {
  value: string
  onChange: (value: string) => void
  label?: string
  name?: string
  /** Whose contacts’ attributes can be inserted. */
  campaign?: string | undefined
}

const fields = [
  ['First name', '{{ first_name | default: "there" }}'],
  ['Last name', '{{ last_name }}'],
] as const

/** The tag of a refused filter that was meant as a fallback, and the tag to write instead. */
function cureOf(text: string, fault: string | undefined): { wrong: string; right: string } | null {
  const [, word = '', right = ''] =
    /Unknown filter "(.+?)"\. For a fallback write (\{\{.+?\}\})/.exec(fault ?? '') ?? []
  const wrong = text.match(/\{\{[^{}]*\}\}/g)?.find((tag) => tag.replace(/["'\s]*\}\}$/, '').endsWith(word))
  return word !== '' && wrong !== undefined && wrong !== right ? { wrong, right } : null
}

export function MessageField({ value, onChange, label = 'Text', name = 'message', campaign }: MessageFieldProps) {
  const attributes = useAttributes(campaign)
  const cure = cureOf(value, useFault(name))
  const around = useRef<HTMLDivElement>(null)
  const insert = (field: string) => {
    const area = around.current?.querySelector('textarea')
    const at = area?.selectionEnd ?? value.length
    onChange(value.slice(0, at) + field + value.slice(at))
    area?.focus()
  }
  return (
    <div ref={around}>
      <TextArea
        label={label}
        name={name}
        rows={4}
        value={value}
        onChange={onChange}
        hint={
          <>
            {value.length > 0 && `${tellCount(value.length, 'character')} without field values. `}
            Insert fields to personalize the message.
          </>
        }
      />
      <div className="buttons">
        {cure && (
          <Button onClick={() => onChange(value.replace(cure.wrong, () => cure.right))}>Use {cure.right}</Button>
        )}
        {fields.map(([title, field]) => (
          <Button key={title} kind="quiet" onClick={() => insert(field)}>
            + {title}
          </Button>
        ))}
        {attributes.length > 0 && (
          <FilterSelect
            label="Attribute"
            value=""
            onChange={(attribute) => insert(`{{ ${attribute} }}`)}
            options={[['', 'Choose an attribute'], ...attributes.map((one) => [one, one] as const)]}
          />
        )}
      </div>
    </div>
  )
}

/** Of the latest contacts. */
function useAttributes(campaign: string | undefined): string[] {
  const contacts = useCall(
    'listContacts',
    { path: { campaign: campaign ?? '' }, query: { limit: 100 } },
    { isSide: true, enabled: campaign !== undefined },
  )
  const names = new Set(contacts.data?.data.flatMap(({ attributes }) => Object.keys(attributes)))
  return [...names].filter(isFieldName).toSorted()
}
