/** Rejected rows with reasons, also as a file to correct and upload again. */
import type { Import } from '@heliogram/sdk'
import { useState } from 'react'
import { download, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Loaded } from '../../../kit/page.tsx'
import { Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import { tellFault } from './faults.tsx'

export function BadRows({ of }: { of: Import }) {
  const { id, completed_at: over } = of
  // The page has two lists, so this one's cursor is not in the address.
  const [isOpen, setOpen] = useState(false)
  const [cursor, setCursor] = useState<string | null>(null)
  const errors = useCall(
    'listImportErrors',
    { path: { import: id }, query: { limit: 20, ...(cursor && { cursor }) } },
    { enabled: isOpen, ...(over === null && { every: 2000 }) },
  )
  const asCsv = { headers: { accept: 'text/csv' } }
  return (
    <>
      <div className="below buttons">
        <DownloadButton
          does="listImportErrors"
          label="Download bad rows"
          onDownload={() => download('listImportErrors', { path: { import: id } }, `bad-rows-${id}.csv`, asCsv)}
        />
        <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide bad rows' : 'Show bad rows'}
        </Button>
      </div>
      {isOpen && (
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
                    title: 'Problem',
                    isWide: true,
                    cell: (row) => (
                      <span className="wrap">
                        {tellFault(row, of).what} {row.suggestion}
                      </span>
                    ),
                  },
                ]}
                empty={<p className="hint">Loading bad rows …</p>}
              />
              {(next !== null || cursor !== null) && (
                <nav className="pager" aria-label="Pages of bad rows">
                  <Button kind="quiet" disabled={previous === null} onClick={() => setCursor(previous)}>
                    ← Previous
                  </Button>
                  <Button kind="quiet" disabled={next === null} onClick={() => setCursor(next)}>
                    Next →
                  </Button>
                </nav>
              )}
            </>
          )}
        </Loaded>
      )}
    </>
  )
}
