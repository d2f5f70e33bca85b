import type { Operations } from '@heliogram/sdk'
import { download } from '../../../api.ts'
import { PhoneNumber } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import type { Order } from './draft.ts'

export type DryRun = Extract<Operations['sendCampaign']['answer'], { object: 'dry_run' }>

interface SkipsProps {
  skips: DryRun['skips']
  campaign: string
  order: Order
}

/** Who gets nothing, and why. */
export function Skips({ skips, campaign, order }: SkipsProps) {
  const request = { path: { campaign }, body: { ...order, dry_run: true } }
  const asCsv = { headers: { accept: 'text/csv' } }
  return (
    <>
      <div className="buttons">
        <DownloadButton
          does="sendCampaign"
          label="Export CSV"
          onDownload={() => download('sendCampaign', request, `skipped-${campaign}.csv`, asCsv)}
        />
        {skips.length >= 100 && <span className="hint">The first 100 are shown. The file has all of them.</span>}
      </div>
      <Table
        label="Skipped contacts"
        rows={skips}
        keyOf={({ contact }) => contact}
        to={({ contact }) => `/campaigns/${campaign}/contacts/${contact}`}
        columns={[
          { title: 'Number', cell: ({ phone_number }) => <PhoneNumber of={phone_number} /> },
          { title: 'Reason', isWide: true, cell: ({ detail }) => <span className="wrap">{detail}</span> },
        ]}
        empty={null}
      />
    </>
  )
}
