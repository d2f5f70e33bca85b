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
          What this carrier means by its codes goes before what SMPP and the mobile networks define.
        </p>
        <div className="actions">
          <Button does="updateStatusMappings" data-key="n" onClick={() => setOpen('new')}>
            Add a code
          </Button>
          <Button does="updateStatusMappings" onClick={() => setOpen('upload')}>
            Begin with a list
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
          Show what is built in, too
        </label>
      </div>
      <Loaded call={mappings}>
        {({ data }) => (
          <Table
            label="Meanings of codes"
            rows={data.filter(fits)}
            keyOf={keyOf}
            columns={[
              { title: 'Of', cell: ({ kind }) => (kind === 'submit' ? 'Submit' : 'Receipt') },
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
              { title: 'Then', cell: ({ handling }) => <Badge status={handling} tone={tones[handling]} /> },
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
                      Say otherwise
                    </Button>
                  ) : (
                    <span className="row-buttons">
                      <Button does="updateStatusMappings" onClick={() => setOpen(row)}>
                        Change
                      </Button>
                      <DeleteMapping carrier={carrier.id} row={row} />
                    </span>
                  ),
              },
            ]}
            empty={
              wanted === '' ? (
                <Empty title="No codes of its own">
                  All codes mean what is built in. Add what the carrier’s manual says otherwise, code by code, from a
                  CSV file, or from the list of an aggregator.
                </Empty>
              ) : (
                <Empty title="No such code">
                  {withDefaults ? 'Nothing here has these letters.' : 'Perhaps among those that are built in.'}
                </Empty>
              )
            }
          />
        )}
      </Loaded>
      {(open === 'new' || (open && open !== 'upload')) && (
        <Dialog title="What a code means" onClose={() => setOpen(null)}>
          <MappingForm carrier={carrier.id} row={open === 'new' ? null : open} onDone={() => setOpen(null)} />
        </Dialog>
      )}
      {open === 'upload' && (
        <Dialog title="Begin with a list" onClose={() => setOpen(null)}>
          <MappingUpload carrier={carrier.id} onDone={() => setOpen(null)} />
        </Dialog>
      )}
    </>
  )
}

const tones = { permanent: 'bad', passing: 'busy', throttling: 'warning' } as const

function DeleteMapping({ carrier, row: { kind, stat, code } }: { carrier: string; row: StatusMapping }) {
  const remove = useAction('deleteStatusMappings', 'The code was deleted.')
  return (
    <ConfirmButton
      does="deleteStatusMappings"
      label="Delete"
      question={<p>It means again what is built in, from now on. Messages that are over stay as they are.</p>}
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
