/** Everyone who has opted out; search, add, import and export. */
import type { OptOut } from '@heliogram/sdk'
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { download, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { FilterDay, FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import { AddOptOut } from './add.tsx'
import { CheckNumbers } from './check.tsx'
import { ImportOptOuts } from './import.tsx'
import { sourceOf, sourceOptions, tellSource } from './source.ts'

const everyMs = 5000

type Front = 'add' | 'check' | 'import'

const names = ['source', 'reason', 'created_after', 'created_before'] as const

export function OptOutListScreen() {
  const { filters, clear, isNarrowed, field } = useFilters(names)
  const [front, setFront] = useState<Front>()
  const { source, ...rest } = filters
  const query = { ...rest, ...(sourceOf(source) && { source: sourceOf(source) }) }
  const call = useCall('listOptOuts', { query }, filters.cursor === undefined ? { every: everyMs } : {})
  const close = () => setFront(undefined)
  return (
    <Page
      title="Opt-outs"
      lead="Numbers that get no messages."
      actions={
        <>
          <Button does="importOptOuts" onClick={() => setFront('import')}>
            Import opt-outs
          </Button>
          <Button does="createOptOut" kind="primary" data-key="n" onClick={() => setFront('add')}>
            Add opt-out
          </Button>
        </>
      }
    >
      <Look>
        <Button does="checkOptOuts" kind="quiet" onClick={() => setFront('check')}>
          Check a list of numbers
        </Button>
      </Look>
      <div className="filters" role="search" aria-label="Filters of opt-outs">
        <FilterSelect label="Source" options={sourceOptions} {...field('source')} />
        <FilterText label="Reason" placeholder="Reason" {...field('reason')} />
        <FilterDay label="After" {...field('created_after')} />
        <FilterDay label="Before" {...field('created_before')} />
        {isNarrowed && (
          <Button kind="quiet" onClick={clear}>
            Clear filters
          </Button>
        )}
        <DownloadButton
          does="exportOptOuts"
          label="Export all as CSV"
          onDownload={() => download('exportOptOuts', {}, 'opt-outs.csv')}
        />
      </div>
      <Loaded call={call}>
        {(page) => (
          <>
            <Table
              label="Opt-outs"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Number', cell: ({ number }) => <OptOutLink number={number} /> },
                { title: 'Source', cell: ({ source, message }) => <Source source={source} message={message} /> },
                { title: 'Reason', isWide: true, cell: ({ reason }) => reason },
                { title: 'Since', cell: ({ created_at: at }) => <Time at={at} /> },
              ]}
              empty={
                isNarrowed ? (
                  <Empty title="No matching opt-outs" action={<Button onClick={clear}>Clear filters</Button>}>
                    Change or clear the filters to see other opt-outs.
                  </Empty>
                ) : (
                  <Empty
                    title="Nobody has opted out"
                    action={
                      <Button does="createOptOut" onClick={() => setFront('add')}>
                        Add opt-out
                      </Button>
                    }
                  >
                    People who reply STOP appear here, and opt-outs that you add or import.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      {front === 'add' && <AddOptOut onClose={close} />}
      {front === 'check' && <CheckNumbers onClose={close} />}
      {front === 'import' && <ImportOptOuts onClose={close} />}
    </Page>
  )
}

/** A link to any number, opted out or not. */
function Look({ children }: { children: ReactNode }) {
  const [number, setNumber] = useState('')
  const [, go] = useLocation()
  const digits = number.replace(/\D/g, '')
  return (
    <form
      className="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        if (digits !== '') go(`/opt-outs/${digits}`)
      }}
    >
      <input
        type="search"
        aria-label="Phone number to look up"
        placeholder="Look up a phone number"
        inputMode="tel"
        autoComplete="off"
        value={number}
        onChange={(event) => setNumber(event.target.value)}
      />
      <Button type="submit" disabled={digits === ''}>
        Look up
      </Button>
      {children}
    </form>
  )
}

function OptOutLink({ number }: Pick<OptOut, 'number'>) {
  if (number === null) return <span className="none">erased</span>
  // A masked number has no screen.
  if (!/^\d+$/.test(number)) return <PhoneNumber of={number} />
  return (
    <Link href={`/opt-outs/${number}`}>
      <PhoneNumber of={number} />
    </Link>
  )
}

function Source({ source, message }: Pick<OptOut, 'source' | 'message'>) {
  return message === null ? tellSource(source) : <Link href={`/messages/${message}`}>{tellSource(source)}</Link>
}
