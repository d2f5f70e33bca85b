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
  const clear = useAction('replaceRates', 'The carrier has no prices any more.')
  return (
    <>
      <RateTest carrier={carrier.id} />
      <Section
        title="Rate card"
        actions={
          <>
            <Button does="replaceRates" data-key="n" onClick={() => setOpen(true)}>
              Put in another
            </Button>
            {card.data && card.data.data.length > 0 && (
              <>
                <Button onClick={() => void saveCard(carrier)}>Download</Button>
                <ConfirmButton
                  does="replaceRates"
                  label="Empty the card"
                  question={
                    <p>
                      Messages over {carrier.name} have no price from then on, and limits of money do not count them.
                    </p>
                  }
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
                  title: 'For',
                  cell: ({ country, prefix }) => (prefix ? `+${prefix} …` : (country ?? 'everywhere else')),
                },
                { title: 'A segment', isNumber: true, cell: (rate) => <Money of={rate} /> },
                {
                  title: 'From',
                  cell: ({ effective_from }) => (effective_from ? <Moment at={effective_from} /> : 'always'),
                },
              ]}
              empty={
                <Empty title="No prices yet">
                  Put in what the carrier sells at, as CSV or JSON, and messages say what they cost before and after
                  they are sent. The longest prefix counts, then the country, then everywhere.
                </Empty>
              }
            />
          )}
        </Loaded>
      </Section>
      {isOpen && (
        <Dialog title="Put in another rate card" onClose={() => setOpen(false)}>
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
  const replace = useAction('replaceRates', 'The rate card was put in; it counts from now on.')
  const [file, setFile] = useState<File | null>(null)
  const submit = async () => {
    if (file && (await replace.run({ path: { id: carrier }, body: withType(file) }))) onDone()
  }
  return (
    <Form does="replaceRates" onSubmit={submit} problem={replace.problem}>
      <FileField
        label="File"
        hint="CSV with the columns country, prefix, amount, currency and effective_from, or JSON with rates. It replaces the whole card; where any row is wrong, nothing is changed."
        accept=".csv,.json,text/csv,application/json"
        onChange={setFile}
      />
      <pre>
        {'country,prefix,amount,currency,effective_from\nUS,,0.0079,USD,\nUS,1555,0.0095,USD,2026-01-01\n,,0.05,USD,'}
      </pre>
      <Buttons>
        <Button kind="primary" type="submit" isBusy={replace.isBusy} disabled={file === null}>
          Replace the card
        </Button>
        <Button onClick={onDone}>Leave it</Button>
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
    <Section title="What would a segment cost">
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
              Look it up
            </Button>
            {found && (
              <span role="status">
                <PhoneNumber of={found.to} /> {found.country && `(${found.country})`}:{' '}
                {found.price ? <Money of={found.price} /> : 'the card says nothing of it'}
              </span>
            )}
          </Buttons>
        </Form>
      </div>
    </Section>
  )
}
