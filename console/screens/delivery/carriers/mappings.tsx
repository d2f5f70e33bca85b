import type { Carrier, StatusMapping } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded } from '../../../kit/page.tsx'
import { Badge } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { MappingForm } from './mapping-form.tsx'
import { MappingUpload } from './mapping-upload.tsx'

const keyOf = ({ kind, stat, code, default: isBuiltIn }: StatusMapping): string =>
  `${isBuiltIn} ${kind} ${stat} ${code}`

export function MappingsPart({ carrier }: { carrier: Carrier }) {
  const { filters, set } = useFilters(['defaults', 'find'])
  const withDefaults = filters.defaults === 'true'
  const mappings = useCall('listStatusMappings', { path: { id: carrier.id }, query: { defaults: withDefaults } })
  const [open, setOpen] = useState<StatusMapping | 'new' | 'upload' | null>(null)
  const wanted = filters.find?.toLowerCase() ?? ''
  const fits = (row: StatusMapping) =>
    [row.code, row.stat, row.error, row.title, row.note].some((text) => text?.toLowerCase().includes(wanted))
  return (
    <>
      <div className="section-head">
        <p className="lead">
          What this carrier’s status codes mean. These come before the standard meanings of SMPP and mobile networks.
        </p>
        <div className="actions">
          <Button does="updateStatusMappings" data-key="n" onClick={() => setOpen('new')}>
            Add a mapping
          </Button>
          <Button does="updateStatusMappings" onClick={() => setOpen('upload')}>
            Import a preset
          </Button>
        </div>
      </div>
      <div className="filters">
        <input
          type="search"
          aria-label="Find a code"
          placeholder="Find a code or a word"
          value={filters.find ?? ''}
          onChange={(event) => set('find', event.target.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={withDefaults}
            onChange={(event) => set('defaults', event.target.checked ? 'true' : '')}
          />{' '}
          Show built-in mappings
        </label>
      </div>
      <Loaded call={mappings}>
        {({ data }) => (
          <Table
            label="Status mappings"
            rows={data.filter(fits)}
            keyOf={keyOf}
            columns={[
              { title: 'Sent in', cell: ({ kind }) => (kind === 'submit' ? 'Submit' : 'Receipt') },
              {
                title: 'Code',
                cell: ({ code, stat }) => <code>{[stat, code].filter((part) => part !== null).join(' ')}</code>,
              },
              {
                title: 'Means',
                cell: ({ error, title }) => (
                  <span className="wraps">
                    {title} <span className="small">{error}</span>
                  </span>
                ),
              },
              { title: 'Handling', cell: ({ handling }) => <Badge status={handling} tone={tones[handling]} /> },
              {
                title: 'Note',
                cell: ({ note, default: isBuiltIn }) => (
                  <span className="wraps">{note ?? (isBuiltIn ? 'built in' : '')}</span>
                ),
              },
              {
                title: '',
                cell: (row) =>
                  row.default ? (
                    <Button does="updateStatusMappings" kind="quiet" onClick={() => setOpen(row)}>
                      Override
                    </Button>
                  ) : (
                    <span className="row-buttons">
                      <Button does="updateStatusMappings" onClick={() => setOpen(row)}>
                        Edit
                      </Button>
                      <DeleteMapping carrier={carrier.id} row={row} />
                    </span>
                  ),
              },
            ]}
            empty={
              wanted === '' ? (
                <Empty title="No mappings yet">
                  All codes have their built-in meaning. Where the carrier’s manual differs, add a mapping, upload a CSV
                  file or import an aggregator’s preset.
                </Empty>
              ) : (
                <Empty title="No matching mappings">
                  {withDefaults ? 'Try other words.' : 'Try the built-in mappings, too.'}
                </Empty>
              )
            }
          />
        )}
      </Loaded>
      {(open === 'new' || (open && open !== 'upload')) && (
        <Dialog title="Status mapping" onClose={() => setOpen(null)}>
          <MappingForm carrier={carrier.id} row={open === 'new' ? null : open} onDone={() => setOpen(null)} />
        </Dialog>
      )}
      {open === 'upload' && (
        <Dialog title="Import a preset" onClose={() => setOpen(null)}>
          <MappingUpload carrier={carrier.id} onDone={() => setOpen(null)} />
        </Dialog>
      )}
    </>
  )
}

const tones = { permanent: 'bad', passing: 'busy', throttling: 'warning' } as const

function DeleteMapping({ carrier, row: { kind, stat, code } }: { carrier: string; row: StatusMapping }) {
  const remove = useAction('deleteStatusMappings', 'Mapping deleted.')
  return (
    <ConfirmButton
      does="deleteStatusMappings"
      label="Delete"
      question={<p>The code gets its built-in meaning again. Completed messages do not change.</p>}
      onConfirm={() =>
        remove.run({
          path: { id: carrier },
          query: { kind, ...(stat !== null && { stat }), ...(code !== null && { code }) },
        })
      }
      isBusy={remove.isBusy}
      problem={remove.problem}
    />
  )
}
