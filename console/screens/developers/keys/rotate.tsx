/** A key gets another secret, under the same id. */
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, SelectField } from '../../../kit/form.tsx'

interface RotateKeyProps {
  id: string
  onClose: () => void
  onDone: (secret: string) => void
}

export function RotateKeyDialog({ id, onClose, onDone }: RotateKeyProps) {
  const [overlap, setOverlap] = useState('86400')
  const { run, isBusy, problem } = useAction('rotateApiKey', 'The key has another secret')
  const rotate = async () => {
    const done = await run({ path: { id }, body: { overlap_seconds: Number(overlap) } })
    if (done) onDone(done.answer.secret)
  }
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      <Form does="rotateApiKey" onSubmit={rotate} problem={problem}>
        <SelectField
          label="The old secret works for"
          name="overlap_seconds"
          value={overlap}
          onChange={setOverlap}
          options={[
            ['0', 'no time: it ends now'],
            ['3600', 'an hour'],
            ['86400', 'a day'],
            ['604800', 'seven days'],
          ]}
          hint="A second rotation ends the overlap of the first, and all logins of before its end."
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Rotate the key
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
