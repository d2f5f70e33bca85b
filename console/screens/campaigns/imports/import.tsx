import { useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Copy, Facts, Moment, Time } from '../../../kit/show.tsx'
import { Outcome, useImport } from './outcome.tsx'

export function ImportScreen() {
  const { id } = useParams<{ id: string }>()
  const call = useImport(id)
  const one = call.data
  const campaign = useCall('getCampaign', { path: { campaign: one?.campaign ?? '' } }, { enabled: one !== undefined })
  return (
    <Page
      title={one?.dry_run ? 'Check of a file' : 'Import'}
      {...(one && {
        back: { to: `/campaigns/${one.campaign}/import`, title: campaign.data?.name ?? 'Campaign' },
        lead: (
          <>
            {one.dry_run ? 'Nothing was written. ' : ''}
            {one.format}, sent <Time at={one.created_at} />
          </>
        ),
        actions: one.completed_at === null && <Cancel id={one.id} />,
      })}
    >
      <Loaded call={call}>
        {(shown) => (
          <>
            <Outcome of={shown} />
            {shown.completed_at !== null && !shown.dry_run && (
              <div className="section buttons">
                <LinkButton to={`/campaigns/${shown.campaign}/send`} does="sendCampaign" kind="primary">
                  Send to contacts
                </LinkButton>
                <LinkButton to={`/campaigns/${shown.campaign}/contacts`}>To the contacts of the campaign</LinkButton>
              </div>
            )}
            <Section title="The file">
              <Facts
                facts={[
                  ['Format', shown.format],
                  ['Encoding', shown.detected.encoding],
                  ['Delimiter', shown.detected.delimiter && <code>{JSON.stringify(shown.detected.delimiter)}</code>],
                  ['Sheet', shown.detected.sheet],
                  ['Names of columns', shown.detected.header_line && `line ${shown.detected.header_line}`],
                  ['Numbers', shown.detected.number_column],
                  ['Consent', shown.detected.consent_columns.join(', ')],
                  ['Hidden rows', shown.counts.hidden > 0 && `${shown.counts.hidden}, left out`],
                  ['Look at', shown.warnings.map(({ column, detail }) => `${column ?? ''}: ${detail}`).join(' ')],
                  ['Faults', shown.faults.length > 0 && tellFaults(shown.faults)],
                  ['Known numbers', shown.on_conflict === 'update' ? 'are updated' : 'are left as they are'],
                  ['Default country', shown.default_country],
                  ['Columns', shown.mapping && tellMapping(shown.mapping)],
                  ['Sent', <Moment key="sent" at={shown.created_at} />],
                  ['Over', shown.completed_at && <Moment at={shown.completed_at} />],
                  ['Id', <Copy key="id" text={shown.id} />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const tellFaults = (
  faults: { count: number; column: string | null; detail: string; advice: string | null }[],
): string =>
  faults
    .map(({ count, column, detail, advice }) => `${count} rows: ${column ?? ''} ${detail}. ${advice ?? ''}`)
    .join(' ')

const tellMapping = (mapping: Record<string, string | null>): string =>
  Object.entries(mapping)
    .map(([column, target]) => `${column} → ${target ?? 'left out'}`)
    .join(', ')

function Cancel({ id }: { id: string }) {
  const { run, isBusy, problem } = useAction('cancelImport', 'The import is canceled.')
  return (
    <ConfirmButton
      does="cancelImport"
      label="Cancel the import"
      question="Rows that were written stay; the others are not read any more."
      onConfirm={() => run({ path: { import: id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
