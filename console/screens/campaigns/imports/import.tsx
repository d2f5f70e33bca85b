import { useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, Copy, Facts, formatNumber, Moment, Time, tellCount } from '../../../kit/show.tsx'
import { isFieldName } from '../message-field.tsx'
import { Outcome, useImport } from './outcome.tsx'
import { Steps } from './steps.tsx'
import type { Import } from '@heliogram/sdk'

export function ImportScreen() {
  const { id } = useParams<{ id: string }>()
  const call = useImport(id)
  const one = call.data
  const campaign = useCall('getCampaign', { path: { campaign: one?.campaign ?? '' } }, { enabled: one !== undefined })
  return (
    <Page
      title={one?.dry_run ? 'File check' : 'Contact import'}
      {...(one && {
        back: { to: `/campaigns/${one.campaign}/import`, title: campaign.data?.name ?? 'Campaign' },
        lead: (
          <>
            <Badge status={one.status} /> {one.format.toUpperCase()} file, uploaded <Time at={one.created_at} />
            {one.dry_run && ' · Check only: nothing was imported'}
          </>
        ),
        actions: one.completed_at === null && <Cancel id={one.id} />,
      })}
    >
      <Loaded call={call}>
        {(shown) => (
          <>
            {!shown.dry_run && <Steps at={shown.completed_at === null ? 2 : 3} />}
            <Headline of={shown} />
            <Outcome of={shown} />
            {shown.completed_at !== null && !shown.dry_run && <Next of={shown} />}
            <Section title="Details">
              <Facts
                facts={[
                  ['Format', shown.format.toUpperCase()],
                  ['Encoding', shown.detected.encoding],
                  ['Delimiter', shown.detected.delimiter && <code>{JSON.stringify(shown.detected.delimiter)}</code>],
                  ['Sheet', shown.detected.sheet],
                  ['Header', shown.detected.header_line && `Line ${shown.detected.header_line}`],
                  ['Phone number column', shown.detected.number_column],
                  ['Consent columns', shown.detected.consent_columns.join(', ')],
                  ['Hidden rows', shown.counts.hidden > 0 && `${shown.counts.hidden}, skipped`],
                  ['Existing contacts', shown.on_conflict === 'update' ? 'Updated' : 'Left unchanged'],
                  ['Default country', shown.default_country],
                  ['Columns', shown.mapping && tellMapping(shown.mapping)],
                  ['Uploaded', <Moment key="sent" at={shown.created_at} />],
                  ['Completed', shown.completed_at && <Moment at={shown.completed_at} />],
                  ['Import ID', <Copy key="id" text={shown.id} />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** As a text uses it. */
const tellTarget = (target: string): string => {
  const name = target.replace(/^attributes\./, '')
  return name !== target && isFieldName(name) ? `{{ ${name} }}` : target
}

const tellMapping = (mapping: Record<string, string | null>): string =>
  Object.entries(mapping)
    .map(([column, target]) => `${column} → ${target === null ? 'left out' : tellTarget(target)}`)
    .join(', ')

function Headline({ of: { counts, dry_run: isDry, completed_at: over, status } }: { of: Import }) {
  if (over === null) return null
  const good = counts.created + counts.updated
  return (
    <p className="headline">
      {status === 'canceled' && 'Import stopped. '}
      {isDry
        ? `${tellCount(good, 'contact')} can be imported.`
        : good === 0
          ? 'No contacts were imported.'
          : `${tellCount(good, 'contact')} imported: ${formatNumber(counts.created)} new, ${formatNumber(counts.updated)} updated.`}
    </p>
  )
}

/** A campaign can only send to contacts that it has. */
function Next({ of: { campaign, counts } }: { of: Import }) {
  const hasContacts = counts.created + counts.updated + counts.skipped > 0
  return (
    <div className="section buttons">
      {hasContacts ? (
        <LinkButton to={`/campaigns/${campaign}/send`} does="sendCampaign" kind="primary">
          Create broadcast
        </LinkButton>
      ) : (
        <LinkButton to={`/campaigns/${campaign}/import`} does="importContacts" kind="primary">
          Import another file
        </LinkButton>
      )}
      {hasContacts && <LinkButton to={`/campaigns/${campaign}/contacts`}>View contacts</LinkButton>}
    </div>
  )
}

function Cancel({ id }: { id: string }) {
  const { run, isBusy, problem } = useAction('cancelImport', 'Import canceled.')
  return (
    <ConfirmButton
      does="cancelImport"
      label="Stop import"
      question="Contacts that are imported already stay. The other rows are not imported."
      onConfirm={() => run({ path: { import: id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
