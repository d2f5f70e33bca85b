/** Rejected rows with reasons, also as a file to correct and upload again. */
import type { Import } from '@heliogram/sdk'
import { useState } from 'react'
import { download, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Loaded, Section } from '../../../kit/page.tsx'
import { Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'

export function BadRows({ of: { id, dry_run: isDry, completed_at: over } }: { of: Import }) {
  // The page has two lists, so this one's cursor is not in the address.
  const [cursor, setCursor] = useState<string | null>(null)
  const errors = useCall(
    'listImportErrors',
    { path: { import: id }, query: { limit: 20, ...(cursor && { cursor }) } },
    over === null ? { every: 2000 } : {},
  )
  const asCsv = { headers: { accept: 'text/csv' } }
  return (
    <Section
      title="Bad rows"
      actions={
        <DownloadButton
          does="listImportErrors"
          label="Download them as CSV"
          onDownload={() => download('listImportErrors', { path: { import: id } }, `bad-rows-${id}.csv`, asCsv)}
        />
      }
    >
      <p className="hint">
        {isDry
          ? 'They would make no contacts and change none; all others would be imported.'
          : 'Correct the file of bad rows, and import it: all other rows need nothing more.'}
      </p>
      <Loaded call={errors}>
        {({ data, next_cursor: next, prev_cursor: previous }) => (
          <>
            <Table
              label="Bad rows"
              rows={data}
              keyOf={({ line, code }) => `${line} ${code}`}
              columns={[
                { title: 'Line', isNumber: true, cell: ({ line }) => line },
                { title: 'Column', cell: ({ column }) => column },
                { title: 'Value', cell: ({ value }) => value },
                {
                  title: 'Why',
                  isWide: true,
                  cell: ({ detail, suggestion }) => (
                    <span className="wrap">
                      {detail} {suggestion}
                    </span>
                  ),
                },
                { title: 'Code', cell: ({ code }) => <code>{code}</code> },
              ]}
              empty={<p className="hint">They are being written down.</p>}
            />
            {(next !== null || cursor !== null) && (
              <nav className="pager" aria-label="Pages of bad rows">
                <Button kind="quiet" disabled={previous === null} onClick={() => setCursor(previous)}>
                  ← Before
                </Button>
                <Button kind="quiet" disabled={next === null} onClick={() => setCursor(next)}>
                  After →
                </Button>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
