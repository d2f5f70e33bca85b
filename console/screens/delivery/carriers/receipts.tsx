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
  const rematch = useAction('rematchReceipts', 'Ids and receipts of the past are compared again.')
  const list = { limit: 20, cursor: filters.cursor }
  const receipts = useCall(
    'listUnmatchedReceipts',
    { path: { id: carrier.id }, query: { unmatched: true, ...list } },
    { every: paceOf(doctor.data) },
  )
  return (
    <>
      <Section
        title="The doctor"
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
              <Empty title="It has no links" />
            ) : (
              links.map((link) => <DiagnosisCard key={link.link} carrier={carrier} of={link} />)
            )
          }
        </Loaded>
      </Section>
      <Section title="Receipts without a message">
        <Loaded call={receipts}>
          {(page) => (
            <>
              <Table
                label="Receipts without a message"
                rows={page.data}
                keyOf={({ link, raw_id, received_at, stat }) => `${link} ${raw_id} ${stat} ${received_at}`}
                columns={[
                  { title: 'Received', cell: ({ received_at }) => <Time at={received_at} /> },
                  { title: 'Id in it', cell: ({ raw_id }) => <code>{raw_id}</code> },
                  {
                    title: 'Says',
                    cell: ({ stat, err }) => (
                      <>
                        {stat}
                        {err !== null && <span className="small"> err {err}</span>}
                      </>
                    ),
                  },
                  {
                    title: 'Would be of',
                    cell: ({ candidates }) =>
                      candidates.length === 0 ? (
                        <span className="none">no message that waits for one</span>
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
                  <Empty title="Every receipt has its message">
                    A receipt whose id is no message’s is kept here for 30 days, and matched when its message turns up.
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
  const update = useAction('updateCarrier', 'The form of ids was changed; past receipts are matched now.')
  const { fix, rematch } = of
  return (
    <div className="card">
      <p>
        {of.unmatched === 0 ? <Badge status="well" tone="good" /> : <Badge status="unmatched" tone="warning" />}{' '}
        {of.advice}
      </p>
      {fix && (
        <div className="gap">
          <ConfirmButton
            does="updateCarrier"
            label={`Set the form of ids to ${fix.body.settings.message_id_form}`}
            isDanger={false}
            question={
              <p>
                Ids and receipts of the past are put into the new form within seconds, and messages move as if their
                receipts came now. The links of {carrier.name} bind again. A change back loses nothing.
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
            ['Form of ids now', of.message_id_form],
            ['Without a message', formatNumber(of.unmatched)],
            ['Gone after 30 days', of.forgotten > 0 ? formatNumber(of.forgotten) : null],
            [
              'Ids looked at',
              of.sampled > 0 ? `${formatNumber(of.sampled)}, ${formatNumber(of.settled)} settled` : null,
            ],
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
              'Matching again',
              rematch.state === 'none' ? null : (
                <>
                  {rematch.state}, {formatNumber(rematch.matched)} found their message, asked for{' '}
                  <Time at={rematch.requested_at} />
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
  const update = useAction('updateCarrier', 'One receipt speaks for all parts now.')
  return (
    <div className="gap">
      <p>
        <Badge status="found" tone="warning" /> {advice}{' '}
        {message !== null && <Link href={`/messages/${message}`}>One of the messages</Link>}
      </p>
      {fix && (
        <ConfirmButton
          does="updateCarrier"
          label="Let one receipt speak for all parts"
          isDanger={false}
          question={
            <p>
              The first last word on any part of a long message ends the message. The links of {carrier.name} bind
              again.
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
