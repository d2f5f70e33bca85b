import type { Campaign } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Loaded } from '../../../kit/page.tsx'
import { oneOf } from '../../../kit/typed.ts'
import { FileField } from './file-field.tsx'
import { Mapping } from './mapping.tsx'
import { Outcome, useImport } from './outcome.tsx'

export function NewImport({ campaign }: { campaign: Campaign }) {
  const [, go] = useLocation()
  const [file, setFile] = useState<File>()
  const [onConflict, setOnConflict] = useState<'update' | 'skip'>('update')
  const [country, setCountry] = useState(campaign.default_country ?? '')
  const [numbers, setNumbers] = useState('')
  /** Corrections of columns; the others are matched by name. */
  const [mapping, setMapping] = useState<Record<string, string | null>>({})
  const [checked, setChecked] = useState<string>()
  const check = useAction('importContacts')
  const order = useAction('importContacts', 'The file is on disk and is being imported.')

  const columns = { ...(numbers.trim() && { [numbers.trim()]: 'phone_number' }), ...mapping }
  const send = (action: typeof check, isDryRun: boolean, chosen: File) => {
    const body = new FormData()
    const options = {
      on_conflict: onConflict,
      ...(country && { default_country: country.trim().toUpperCase() }),
      ...(Object.keys(columns).length > 0 && { mapping: columns }),
      ...(isDryRun && { dry_run: true }),
    }
    // The API reads the options before the file.
    body.append('options', JSON.stringify(options))
    body.append('file', chosen)
    return action.run({ path: { campaign: campaign.id }, body })
  }
  const look = async () => {
    if (!file) return
    order.reset()
    const made = await send(check, true, file)
    if (made) setChecked(made.answer.id)
  }
  const doIt = async () => {
    if (!file) return
    check.reset()
    const made = await send(order, false, file)
    if (made) go(`/imports/${made.answer.id}`)
  }
  return (
    <>
      <Form does="importContacts" onSubmit={look} problem={check.problem ?? order.problem}>
        <FileField
          file={file}
          onFile={(chosen) => {
            setFile(chosen)
            setMapping({})
            setChecked(undefined)
          }}
        />
        <div className="fields">
          <SelectField
            label="Numbers that the campaign has"
            name="options/on_conflict"
            value={onConflict}
            onChange={(value) => setOnConflict(oneOf(['skip', 'update'], value, 'update'))}
            options={[
              ['update', 'Update them with what the file has'],
              ['skip', 'Leave them as they are'],
            ]}
          />
          <TextField
            label="Default country"
            name="options/default_country"
            maxLength={2}
            placeholder="GB"
            value={country}
            onChange={setCountry}
            hint="Two letters: where numbers without a country code are from."
          />
          <TextField
            label="Column of the numbers"
            name="options/mapping"
            value={numbers}
            onChange={setNumbers}
            hint="Only where it is not found by its name: phone, mobile, msisdn, …"
          />
        </div>
        <Buttons>
          <Button kind={checked ? 'plain' : 'primary'} type="submit" disabled={!file} isBusy={check.isBusy}>
            {checked ? 'Check again' : 'Check the file'}
          </Button>
          <Button
            does="importContacts"
            kind={checked ? 'primary' : 'plain'}
            disabled={!file}
            isBusy={order.isBusy}
            onClick={() => void doIt()}
          >
            Import
          </Button>
          <span className="hint">Checking reads all of it and writes nothing.</span>
        </Buttons>
      </Form>
      {checked && (
        <Check
          id={checked}
          mapping={mapping}
          onMapping={(column, target) => setMapping((now) => ({ ...now, [column]: target }))}
        />
      )}
    </>
  )
}

interface CheckProps {
  id: string
  mapping: Record<string, string | null>
  onMapping: (column: string, target: string | null) => void
}

function Check({ id, mapping, onMapping }: CheckProps) {
  const call = useImport(id)
  return (
    <section className="section" aria-label="What the file would do">
      <Loaded call={call}>
        {(one) =>
          one.id === id && (
            <>
              <Outcome of={one} />
              {one.mapping && <Mapping found={one.mapping} said={mapping} onSay={onMapping} />}
            </>
          )
        }
      </Loaded>
    </section>
  )
}
