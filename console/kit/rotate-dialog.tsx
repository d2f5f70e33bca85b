/** Rotates a secret: how long the old one stays valid. */
import { useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Buttons, Form, SelectField } from './form.tsx'

interface RotateProps {
  title: string
  /** The API field for the seconds. */
  name: string
  label: string
  /** The meaning of none. */
  none: string
  hint: string
  onRotate: (seconds: number) => unknown
  onClose: () => void
  isBusy: boolean
  problem: Error | null
}

export function RotateDialog({ title, name, label, none, hint, onRotate, onClose, isBusy, problem }: RotateProps) {
  const [seconds, setSeconds] = useState('86400')
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => onRotate(Number(seconds))} problem={problem}>
        <SelectField
          label={label}
          name={name}
          value={seconds}
          onChange={setSeconds}
          options={[
            ['0', none],
            ['3600', 'in 1 hour'],
            ['86400', 'in 1 day'],
            ['604800', 'in 7 days'],
          ]}
          hint={hint}
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {title}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
