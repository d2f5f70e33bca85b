import { useState } from 'react'
import type { Operations } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { FileField, withType } from '../../../kit/file-field.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { Figure, Figures, formatNumber } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'

type Imported = Operations['importOptOuts']['answer']

export function ImportOptOuts({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null)
  const [imported, setImported] = useState<Imported>()
  const add = useAction('importOptOuts', 'Opt-outs imported.')
  const submit = async () => {
    const done = file && (await add.run({ body: withType(file) }))
    if (done) setImported(done.answer)
  }
  return (
    <Dialog title="Import opt-outs" onClose={onClose}>
      <p className="question">
        Adds opt-outs and never removes any. Bad rows are skipped. You can import a file that was exported here.
      </p>
      <Form does="importOptOuts" onSubmit={submit} problem={add.problem}>
        <FileField
          label="CSV file"
          hint="With a column “number”, and optionally “reason”. Up to 100,000 rows."
          onChange={setFile}
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={add.isBusy} disabled={!file}>
            {add.isBusy ? 'Importing …' : 'Import opt-outs'}
          </Button>
          {imported && <Button onClick={onClose}>Close</Button>}
        </Buttons>
      </Form>
      {imported && <Result of={imported} />}
    </Dialog>
  )
}

function Result({ of: { total, created, existing, duplicate, failed, errors } }: { of: Imported }) {
  return (
    <div role="status" className="result">
      <Figures>
        <Figure value={formatNumber(total)} label="rows" />
        <Figure value={formatNumber(created)} label="added" tone="good" />
        <Figure value={formatNumber(existing)} label="existing" />
        <Figure value={formatNumber(duplicate)} label="duplicates" />
        <Figure value={formatNumber(failed)} label="bad rows" {...(failed > 0 && { tone: 'bad' })} />
      </Figures>
      {errors.length > 0 && (
        <Table
          label="Bad rows"
          rows={errors}
          keyOf={({ line, code }) => `${line} ${code}`}
          columns={[
            { title: 'Line', isNumber: true, cell: ({ line }) => line },
            { title: 'Value', cell: ({ value }) => <code>{value}</code> },
            {
              title: 'Problem',
              isWide: true,
              cell: ({ detail, suggestion }) => (
                <span title={detail}>{[detail, suggestion].filter(Boolean).join(' ')}</span>
              ),
            },
          ]}
          empty={null}
        />
      )}
    </div>
  )
}
