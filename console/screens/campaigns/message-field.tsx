/** With insertable fields of the recipient. */
import { useRef } from 'react'
import { tellCount } from '../../kit/show.tsx'
import { Button } from '../../kit/button.tsx'
import { TextArea } from '../../kit/form.tsx'

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

export function MessageField({ value, onChange, label = 'Text', name = 'message' }: MessageFieldProps) {
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
            {value.length > 0 && `${tellCount(value.length, 'character')}, before fields are filled in. `}
            Fields stand in double braces and are filled in for each recipient.
          </>
        }
      />
      <div className="buttons">
        {fields.map(([title, field]) => (
          <Button key={title} kind="quiet" onClick={() => insert(field)}>
            + {title}
          </Button>
        ))}
      </div>
    </div>
  )
}
