import type { StatusMapping } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'

const errors = [
  'unknown_subscriber',
  'landline_or_unroutable',
  'handset_unreachable',
  'handset_busy',
  'handset_memory_full',
  'recipient_blocked',
  'recipient_opted_out',
  'content_filtered',
  'carrier_congestion',
  'throttled',
  'sender_not_registered',
  'invalid_sender',
  'invalid_destination',
  'destination_not_allowed',
  'fraud_suspected',
  'queue_full',
  'expired_in_queue',
  'expired_at_carrier',
  'message_too_long',
  'spend_limit_reached',
  'text_unavailable',
  'quiet_hours',
  'provider_timeout',
  'provider_error',
  'no_route_available',
  'outcome_unknown',
  'no_receipt',
  'carrier_unknown',
] as const satisfies readonly StatusMapping['error'][]

/** An existing row with the same code is replaced. */
export function MappingForm({
  carrier,
  row,
  onDone,
}: {
  carrier: string
  row: StatusMapping | null
  onDone: () => void
}) {
  const save = useAction('updateStatusMappings', 'Mapping saved. It applies to new responses and receipts.')
  const [kind, setKind] = useState<string>(row?.kind ?? 'submit')
  const [stat, setStat] = useState(row?.stat ?? '')
  const [code, setCode] = useState(row?.code ?? '')
  const [error, setError] = useState<string>(row?.error ?? 'carrier_unknown')
  const [handling, setHandling] = useState<string>(row?.handling ?? '')
  const [note, setNote] = useState(row?.default ? '' : (row?.note ?? ''))
  const submit = async () => {
    const mapping = {
      kind,
      error,
      ...(kind === 'receipt' && stat !== '' && { stat }),
      ...(code !== '' && { code }),
      ...(handling !== '' && { handling }),
      ...(note !== '' && { note }),
    }
    if (await save.run({ path: { id: carrier }, body: { mappings: [mapping] } })) onDone()
  }
  const isFixed = row !== null
  return (
    <Form does="updateStatusMappings" onSubmit={submit} problem={save.problem}>
      <SelectField
        label="Of"
        name="mappings/0/kind"
        disabled={isFixed}
        value={kind}
        onChange={setKind}
        options={[
          ['submit', 'A refused submit'],
          ['receipt', 'A receipt'],
        ]}
      />
      {kind === 'receipt' && (
        <TextField
          label="Word"
          name="mappings/0/stat"
          hint="Word of the receipt, such as UNDELIV; empty: any."
          disabled={isFixed}
          value={stat}
          onChange={setStat}
        />
      )}
      <TextField
        label="Code"
        name="mappings/0/code"
        hint={
          kind === 'submit'
            ? 'The command_status as hexadecimal or by its name, or the code of an HTTP carrier.'
            : 'Its err; empty: any.'
        }
        disabled={isFixed}
        value={code}
        onChange={setCode}
      />
      <SelectField
        label="Means"
        name="mappings/0/error"
        value={error}
        onChange={setError}
        options={errors.map((name) => [name, name.replaceAll('_', ' ')])}
      />
      <SelectField
        label="Then"
        name="mappings/0/handling"
        value={handling}
        onChange={setHandling}
        options={[
          ['', 'What the meaning asks for'],
          ['permanent', 'The message ends'],
          ['passing', 'Again later or elsewhere'],
          ['throttling', 'Again, and the link slows down'],
        ]}
      />
      <TextField label="Note" name="mappings/0/note" hint="Where you have it from." value={note} onChange={setNote} />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={save.isBusy}>
          Save mapping
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </Buttons>
    </Form>
  )
}
