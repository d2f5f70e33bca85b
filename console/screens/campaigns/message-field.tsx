/** With insertable fields of the recipient. */
import { useRef } from 'react'
import { tellCount } from '../../kit/show.tsx'
import { Button } from '../../kit/button.tsx'
import { TextArea, useFault } from '../../kit/form.tsx'

interface MessageFieldProps {
  value: string
  onChange: (value: string) => void
  label?: string
  name?: string
}

const fields = [
  ['First name', '{{ first_name | default: "there" }}'],
  ['Last name', '{{ last_name }}'],
  ['Attribute', '{{ attribute }}'],
] as const

/** The tag of a refused filter that was meant as a fallback, and the tag to write instead. */
function cureOf(text: string, fault: string | undefined): { wrong: string; right: string } | null {
  const [, word = '', right = ''] =
    /Unknown filter "(.+?)"\. For a fallback write (\{\{.+?\}\})/.exec(fault ?? '') ?? []
  const wrong = text.match(/\{\{[^{}]*\}\}/g)?.find((tag) => tag.replace(/["'\s]*\}\}$/, '').endsWith(word))
  return word !== '' && wrong !== undefined && wrong !== right ? { wrong, right } : null
}

export function MessageField({ value, onChange, label = 'Text', name = 'message' }: MessageFieldProps) {
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
      </div>
    </div>
  )
}
