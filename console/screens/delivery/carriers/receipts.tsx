import type { Carrier, ReceiptDoctor } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { Badge, Facts, formatNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'

type Diagnosis = ReceiptDoctor['links'][number]

const spans: [string, string][] = [
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last week'],
  ['720', 'the last 30 days'],
]

/** Both are expensive: polled often only while receipts are being matched. */
const paceOf = (doctor: ReceiptDoctor | undefined): number =>
  doctor?.links.some(({ rematch: { state } }) => state === 'due' || state === 'watching') ? 2000 : 15_000

export function ReceiptsPart({ carrier }: { carrier: Carrier }) {
  const { filters, set } = useFilters(['hours'])
  const hours = Number(filters.hours ?? '24')
  const doctor = useCall('diagnoseReceipts', { path: { id: carrier.id }, query: { hours } }, { every: paceOf })
  const rematch = useAction('rematchReceipts', 'Matching past receipts again.')
  const list = { limit: 20, cursor: filters.cursor }
  const receipts = useCall(
    'listUnmatchedReceipts',
    { path: { id: carrier.id }, query: { unmatched: true, ...list } },
    { every: paceOf(doctor.data) },
  )
  return (
    <>
      <Section
        title="Receipt check"
        actions={
          <>
            <select
              aria-label="How far back"
              value={String(hours)}
              onChange={(event) => set('hours', event.target.value)}
            >
              {spans.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
            <Button
              does="rematchReceipts"
              isBusy={rematch.isBusy}
              onClick={() => void rematch.run({ path: { id: carrier.id } })}
            >
              Match again
            </Button>
          </>
        }
      >
        {rematch.problem && <Problem of={rematch.problem} />}
        <Loaded call={doctor}>
          {({ links }) =>
            links.length === 0 ? (
              <Empty title="No links" />
            ) : (
              links.map((link) => <DiagnosisCard key={link.link} carrier={carrier} of={link} />)
            )
          }
        </Loaded>
      </Section>
      <Section title="Unmatched receipts">
        <Loaded call={receipts}>
          {(page) => (
            <>
              <Table
                label="Unmatched receipts"
                rows={page.data}
                keyOf={({ link, raw_id, received_at, stat }) => `${link} ${raw_id} ${stat} ${received_at}`}
                columns={[
                  { title: 'Received', cell: ({ received_at }) => <Time at={received_at} /> },
                  { title: 'Carrier message ID', cell: ({ raw_id }) => <code>{raw_id}</code> },
                  {
                    title: 'Status',
                    cell: ({ stat, err }) => (
                      <>
                        {stat}
                        {err !== null && <span className="small"> err {err}</span>}
                      </>
                    ),
                  },
                  {
                    title: 'Possible message',
                    cell: ({ candidates }) =>
                      candidates.length === 0 ? (
                        <span className="none">none</span>
                      ) : (
                        candidates.map(({ form, message }) => (
                          <div key={`${form} ${message}`}>
                            <Link href={`/messages/${message}`}>{message}</Link>{' '}
                            <span className="small">as {form}</span>
                          </div>
                        ))
                      ),
                  },
                ]}
                empty={
                  <Empty title="All receipts matched">
                    A receipt whose ID belongs to no message is kept here for 30 days, and is matched if its message
                    appears.
                  </Empty>
                }
              />
              <Pager page={page} />
            </>
          )}
        </Loaded>
      </Section>
    </>
  )
}

function DiagnosisCard({ carrier, of }: { carrier: Carrier; of: Diagnosis }) {
  const update = useAction('updateCarrier', 'ID format changed. Past receipts are matched now.')
  const { fix, rematch } = of
  return (
    <div className="card">
      <p>
        {of.unmatched === 0 ? <Badge status="OK" tone="good" /> : <Badge status="unmatched" tone="warning" />}{' '}
        {of.advice}
      </p>
      {fix && (
        <div className="gap">
          <ConfirmButton
            does="updateCarrier"
            label={`Set ID format to ${fix.body.settings.message_id_form}`}
            isDanger={false}
            question={
              <p>
                Past IDs and receipts are converted within seconds, and messages change as if their receipts came now.
                The links of {carrier.name} bind again. You can change it back without loss.
              </p>
            }
            onConfirm={() => update.run({ path: { id: carrier.id }, body: fix.body })}
            isBusy={update.isBusy}
            problem={update.problem}
          />
        </div>
      )}
      {of.findings.map((finding) => (
        <FindingCard key={finding.code} carrier={carrier} of={finding} />
      ))}
      <div className="gap">
        <Facts
          facts={[
            ['Link', <code key="link">{of.link}</code>],
            ['ID format', of.message_id_form],
            ['Unmatched receipts', formatNumber(of.unmatched)],
            ['Deleted after 30 days', of.forgotten > 0 ? formatNumber(of.forgotten) : null],
            ['IDs checked', of.sampled > 0 ? `${formatNumber(of.sampled)}, ${formatNumber(of.settled)} settled` : null],
            ...of.forms
              .filter(({ would_match }) => would_match > 0)
              .map(
                ({ form, would_match, example }) =>
                  [
                    `As ${form}`,
                    <>
                      {formatNumber(would_match)} would match
                      {example && (
                        <span className="small">
                          , such as {example.raw_id} with {example.carrier_message_id}
                        </span>
                      )}
                    </>,
                  ] as const,
              ),
            [
              'Rematch',
              rematch.state === 'none' ? null : (
                <>
                  {rematch.state}, {formatNumber(rematch.matched)} matched, started <Time at={rematch.requested_at} />
                </>
              ),
            ],
          ]}
        />
      </div>
    </div>
  )
}

/** The doctor's conclusion from receipts of known messages. */
function FindingCard({
  carrier,
  of: { advice, message, fix },
}: {
  carrier: Carrier
  of: Diagnosis['findings'][number]
}) {
  const update = useAction('updateCarrier', 'One receipt now completes all parts.')
  return (
    <div className="gap">
      <p>
        <Badge status="found" tone="warning" /> {advice}{' '}
        {message !== null && <Link href={`/messages/${message}`}>Example message</Link>}
      </p>
      {fix && (
        <ConfirmButton
          does="updateCarrier"
          label="Let one receipt complete all parts"
          isDanger={false}
          question={
            <p>
              The first final receipt for any part of a long message completes the message. The links of {carrier.name}{' '}
              bind again.
            </p>
          }
          onConfirm={() => update.run({ path: { id: carrier.id }, body: fix.body })}
          isBusy={update.isBusy}
          problem={update.problem}
        />
      )}
    </div>
  )
}
