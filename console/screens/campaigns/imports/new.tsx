/** An import in steps: the file, its columns and problems, and then the import itself, which has a page of its own. */
import type { Campaign, Import } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Loaded, Section } from '../../../kit/page.tsx'
import { tellCount } from '../../../kit/show.tsx'
import { oneOf } from '../../../kit/typed.ts'
import { FileField } from './file-field.tsx'
import { Mapping } from './mapping.tsx'
import { Outcome, useImport } from './outcome.tsx'
import { Steps } from './steps.tsx'

export function NewImport({ campaign }: { campaign: Campaign }) {
  const [, go] = useLocation()
  const [file, setFile] = useState<File>()
  const [onConflict, setOnConflict] = useState<'update' | 'skip'>('update')
  const [country, setCountry] = useState(campaign.default_country ?? '')
  /** Corrections of columns; the others are matched by name. */
  const [mapping, setMapping] = useState<Record<string, string | null>>({})
  const [checked, setChecked] = useState<{ id: string; options: string }>()
  const check = useAction('importContacts')
  const order = useAction('importContacts', 'Import started.')
  const options = {
    on_conflict: onConflict,
    ...(country && { default_country: country.trim().toUpperCase() }),
    ...(Object.keys(mapping).length > 0 && { mapping }),
  }
  const send = (action: typeof check, isDryRun: boolean, chosen: File, with_ = options) => {
    const body = new FormData()
    // The API reads the options before the file.
    body.append('options', JSON.stringify({ ...with_, ...(isDryRun && { dry_run: true }) }))
    body.append('file', chosen)
    return action.run({ path: { campaign: campaign.id }, body })
  }
  const look = async (with_ = options) => {
    if (!file) return
    order.reset()
    const made = await send(check, true, file, with_)
    if (made) setChecked({ id: made.answer.id, options: JSON.stringify(with_) })
  }
  const doIt = async () => {
    if (!file) return
    check.reset()
    const made = await send(order, false, file)
    if (made) go(`/imports/${made.answer.id}`)
  }
  const isFresh = checked?.options === JSON.stringify(options)
  return (
    <>
      <Steps at={checked ? 1 : 0} />
      <Form does="importContacts" onSubmit={() => look()} problem={check.problem ?? order.problem}>
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
            label="Existing contacts"
            name="options/on_conflict"
            value={onConflict}
            onChange={(value) => setOnConflict(oneOf(['skip', 'update'], value, 'update'))}
            options={[
              ['update', 'Update with the values of the file'],
              ['skip', 'Leave unchanged'],
            ]}
          />
          <TextField
            label="Default country"
            name="options/default_country"
            maxLength={2}
            placeholder="GB"
            value={country}
            onChange={setCountry}
            hint="For phone numbers without a country code. Two letters, such as GB."
          />
        </div>
        {!isFresh && (
          <Buttons>
            <Button kind="primary" type="submit" disabled={!file} isBusy={check.isBusy}>
              {checked ? 'Check again' : 'Check file'}
            </Button>
            <span className="hint">{checked ? 'You changed how the file is read.' : 'Nothing is imported yet.'}</span>
          </Buttons>
        )}
      </Form>
      {checked && (
        <Check
          id={checked.id}
          mapping={mapping}
          isFresh={isFresh}
          onMap={(column, target) => setMapping((now) => ({ ...now, [column]: target }))}
          onFix={(column, target) => {
            const fixed = { ...mapping, [column]: target }
            setMapping(fixed)
            void look({ ...options, mapping: fixed })
          }}
          onCountry={(likely) => {
            setCountry(likely)
            void look({ ...options, default_country: likely })
          }}
          onImport={doIt}
          isBusy={order.isBusy}
        />
      )}
    </>
  )
}

interface CheckProps {
  id: string
  mapping: Record<string, string | null>
  isFresh: boolean
  onMap: (column: string, target: string | null) => void
  /** Changes a column, and checks again. */
  onFix: (column: string, target: string | null) => void
  onCountry: (country: string) => void
  onImport: () => Promise<void>
  isBusy: boolean
}

function Check({ id, mapping, isFresh, onMap, onFix, onCountry, onImport, isBusy }: CheckProps) {
  const call = useImport(id)
  return (
    <section className="section" aria-label="Check">
      <Loaded call={call}>
        {(one) =>
          one.id === id && (
            <>
              {one.columns && (
                <Section title="Match columns">
                  <Mapping columns={one.columns} changed={mapping} onMap={onMap} />
                </Section>
              )}
              <Section title="Check">
                <Outcome of={one} fixes={{ onMap: onFix, onCountry }} />
                {isFresh && one.completed_at !== null && <Go one={one} onImport={onImport} isBusy={isBusy} />}
              </Section>
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function Go({ one: { counts }, onImport, isBusy }: { one: Import; onImport: () => Promise<void>; isBusy: boolean }) {
  const good = counts.created + counts.updated
  if (good === 0)
    return <p className="notice">No row of this file can be imported as it is. Fix the problems above first.</p>
  return (
    <div className="below buttons">
      <Button does="importContacts" kind="primary" isBusy={isBusy} onClick={() => void onImport()}>
        Import {tellCount(good, 'contact')}
      </Button>
      {counts.failed > 0 && <span className="hint">without {tellCount(counts.failed, 'bad row')}</span>}
    </div>
  )
}
