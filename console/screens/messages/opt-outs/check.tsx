import { useState } from 'react'
import type { Operations } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextArea } from '../../../kit/form.tsx'
import { cleanNumber } from '../../../kit/number.ts'
import { Badge, formatNumber, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'

type Checked = Operations['checkOptOuts']['answer']['data']

export function CheckNumbers({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [checked, setChecked] = useState<Checked>()
  const check = useAction('checkOptOuts')
  const submit = async () => {
    const numbers = text.split(/[\n,;]+/).flatMap((number) => cleanNumber(number) || [])
    const done = await check.run({ body: { numbers } })
    if (done) setChecked(done.answer.data)
  }
  return (
    <Dialog title="Check numbers" onClose={onClose}>
      <Form does="checkOptOuts" onSubmit={submit} problem={check.problem}>
        <TextArea
          label="Numbers"
          name="numbers"
          value={text}
          onChange={setText}
          hint="One per line, or separated by commas. Up to 10,000."
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={check.isBusy} disabled={text.trim() === ''}>
            Check numbers
          </Button>
        </Buttons>
      </Form>
      {checked && <Result of={checked} />}
    </Dialog>
  )
}

function Result({ of: checked }: { of: Checked }) {
  const out = checked.filter(({ opted_out: isOut }) => isOut).length
  return (
    <div role="status" className="result">
      <p>
        {formatNumber(out)} of {formatNumber(checked.length)} {out === 1 ? 'has' : 'have'} opted out.
      </p>
      <Table
        label="Checked numbers"
        rows={checked.map((one, n) => ({ ...one, n }))}
        keyOf={({ n }) => n}
        columns={[
          { title: 'Number', cell: ({ number }) => <PhoneNumber of={number} /> },
          { title: 'Status', cell: (one) => <Badge {...tellChecked(one)} /> },
          { title: 'Since', cell: ({ since }) => <Time at={since} /> },
        ]}
        empty={null}
      />
    </div>
  )
}

function tellChecked({ valid, opted_out: isOut }: Checked[number]): {
  status: string
  tone: 'bad' | 'good' | 'warning'
} {
  if (!valid) return { status: 'invalid number', tone: 'warning' }
  return isOut ? { status: 'opted out', tone: 'bad' } : { status: 'not opted out', tone: 'good' }
}
