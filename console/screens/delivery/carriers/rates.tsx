import type { Carrier } from '@heliogram/sdk'
import { useState } from 'react'
import { download, useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Moment, Money, PhoneNumber } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { FileField, withType } from '../../../kit/file-field.tsx'

export function RatesPart({ carrier }: { carrier: Carrier }) {
  const card = useCall('getRates', { path: { id: carrier.id } })
  const [isOpen, setOpen] = useState(false)
  const clear = useAction('replaceRates', 'Rate card deleted.')
  return (
    <>
      <RateTest carrier={carrier.id} />
      <Section
        title="Rate card"
        actions={
          <>
            <Button does="replaceRates" data-key="n" onClick={() => setOpen(true)}>
              Replace rate card
            </Button>
            {card.data && card.data.data.length > 0 && (
              <>
                <Button onClick={() => void saveCard(carrier)}>Download</Button>
                <ConfirmButton
                  does="replaceRates"
                  label="Delete rate card"
                  question={<p>New messages over {carrier.name} have no price, and spend limits do not count them.</p>}
                  onConfirm={() => clear.run({ path: { id: carrier.id }, body: { rates: [] } })}
                  isBusy={clear.isBusy}
                  problem={clear.problem}
                />
              </>
            )}
          </>
        }
      >
        <Loaded call={card}>
          {({ data }) => (
            <Table
              label="Rate card"
              rows={data}
              keyOf={({ country, prefix, effective_from }) => `${country} ${prefix} ${effective_from}`}
              columns={[
                {
                  title: 'Destination',
                  cell: ({ country, prefix }) => (prefix ? `+${prefix} …` : (country ?? 'All other countries')),
                },
                { title: 'Price per segment', isNumber: true, cell: (rate) => <Money of={rate} /> },
                {
                  title: 'Effective from',
                  cell: ({ effective_from }) => (effective_from ? <Moment at={effective_from} /> : 'Always'),
                },
              ]}
              empty={
                <Empty title="No prices yet">
                  Upload the carrier’s prices as CSV or JSON to see what messages cost before and after they are sent.
                  The longest matching prefix applies, then the country, then the price for all other countries.
                </Empty>
              }
            />
          )}
        </Loaded>
      </Section>
      {isOpen && (
        <Dialog title="Replace rate card" onClose={() => setOpen(false)}>
          <RateUpload carrier={carrier.id} onDone={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

/** The file can be uploaded again. */
const saveCard = ({ id, name }: Carrier) =>
  download('getRates', { path: { id } }, `rates-${name}.csv`, { headers: { accept: 'text/csv' } })

function RateUpload({ carrier, onDone }: { carrier: string; onDone: () => void }) {
  const replace = useAction('replaceRates', 'Rate card replaced. It applies to new messages.')
  const [file, setFile] = useState<File | null>(null)
  const submit = async () => {
    if (file && (await replace.run({ path: { id: carrier }, body: withType(file) }))) onDone()
  }
  return (
    <Form does="replaceRates" onSubmit={submit} problem={replace.problem}>
      <FileField
        label="File"
        hint="CSV with the columns country, prefix, amount, currency and effective_from, or JSON with rates. It replaces the whole card. If any row is wrong, nothing changes."
        accept=".csv,.json,text/csv,application/json"
        onChange={setFile}
      />
      <pre>
        {'country,prefix,amount,currency,effective_from\nUS,,0.0079,USD,\nUS,1555,0.0095,USD,2026-01-01\n,,0.05,USD,'}
      </pre>
      <Buttons>
        <Button kind="primary" type="submit" isBusy={replace.isBusy} disabled={file === null}>
          Replace rate card
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </Buttons>
    </Form>
  )
}

function RateTest({ carrier }: { carrier: string }) {
  const ask = useAction('testRates')
  const [to, setTo] = useState('')
  const [answer, setAnswer] = useState<Awaited<ReturnType<typeof ask.run>>>()
  const submit = async () => setAnswer(await ask.run({ path: { id: carrier }, body: { to } }))
  const found = answer?.answer
  return (
    <Section title="Look up a price">
      <div className="narrow">
        <Form does="testRates" onSubmit={submit} problem={ask.problem}>
          <TextField
            label="Number"
            name="to"
            hint="With its country code, such as +15551230001."
            inputMode="tel"
            value={to}
            onChange={setTo}
          />
          <Buttons>
            <Button type="submit" isBusy={ask.isBusy}>
              Look up price
            </Button>
            {found && (
              <span role="status">
                <PhoneNumber of={found.to} /> {found.country && `(${found.country})`}:{' '}
                {found.price ? <Money of={found.price} /> : 'no price on the rate card'}
              </span>
            )}
          </Buttons>
        </Form>
      </div>
    </Section>
  )
}
