/** Many codes at once: the preset of an aggregator, or a file. */
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, SelectField } from '../../../kit/form.tsx'
import { FileField, withType } from '../../../kit/file-field.tsx'

const presets = ['twilio', 'vonage', 'infobip', 'sinch', '8x8'] as const

export function MappingUpload({ carrier, onDone }: { carrier: string; onDone: () => void }) {
  const replace = useAction('replaceStatusMappings', 'Mappings replaced. They apply to new responses and receipts.')
  const add = useAction('updateStatusMappings', 'Mappings added. They apply to new responses and receipts.')
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
        label="Preset"
        name="preset"
        hint="The codes that the aggregator publishes for receipts over SMPP."
        value={preset}
        onChange={(value) => setPreset(presets.find((name) => name === value) ?? '')}
        options={[['', 'None'], ...presets.map((name) => [name, name] as const)]}
      />
      <FileField
        label="Or a CSV file"
        hint="The first line names the columns: kind, stat, code, error, handling, note."
        onChange={setFile}
      />
      <CheckField
        label="Replace all existing mappings"
        name="replace"
        hint="If not checked, they are added, and replace mappings of the same codes."
        value={isReplacing}
        onChange={setReplacing}
      />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={action.isBusy} disabled={file === null && preset === ''}>
          Import mappings
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </Buttons>
    </Form>
  )
}
