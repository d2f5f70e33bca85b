/** Many codes at once: a published list of an aggregator, or a file. */
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, SelectField } from '../../../kit/form.tsx'
import { FileField, withType } from '../../../kit/file-field.tsx'

const presets = ['twilio', 'vonage', 'infobip', 'sinch', '8x8'] as const

export function MappingUpload({ carrier, onDone }: { carrier: string; onDone: () => void }) {
  const replace = useAction('replaceStatusMappings', 'The codes were replaced; they count from now on.')
  const add = useAction('updateStatusMappings', 'The codes were added; they count from now on.')
  const [preset, setPreset] = useState<(typeof presets)[number] | ''>('')
  const [file, setFile] = useState<File | null>(null)
  const [isReplacing, setReplacing] = useState(false)
  const action = isReplacing ? replace : add
  const submit = async () => {
    const body = file ? withType(file) : preset === '' ? null : { preset }
    if (body !== null && (await action.run({ path: { id: carrier }, body }))) onDone()
  }
  return (
    <Form does="updateStatusMappings" onSubmit={submit} problem={action.problem}>
      <SelectField
        label="Of an aggregator"
        name="preset"
        hint="The codes that it publishes for receipts over SMPP."
        value={preset}
        onChange={(value) => setPreset(presets.find((name) => name === value) ?? '')}
        options={[['', 'None'], ...presets.map((name) => [name, name] as const)]}
      />
      <FileField
        label="Or a CSV file"
        hint="Its first line names the columns, of kind, stat, code, error, handling and note."
        onChange={setFile}
      />
      <CheckField
        label="In the place of all that are there"
        name="replace"
        hint="Otherwise they are added, and replace those with the same code."
        value={isReplacing}
        onChange={setReplacing}
      />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={action.isBusy} disabled={file === null && preset === ''}>
          Take the list
        </Button>
        <Button onClick={onDone}>Leave it</Button>
      </Buttons>
    </Form>
  )
}
