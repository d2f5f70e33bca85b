/** Everyone who has opted out; search, add, import and export. */
import type { OptOut } from '@heliogram/sdk'
import { useState } from 'react'
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
      lead="Nothing is sent to these people"
      actions={
        <>
          <Button does="checkOptOuts" onClick={() => setFront('check')}>
            Check numbers
          </Button>
          <Button does="importOptOuts" onClick={() => setFront('import')}>
            Import
          </Button>
          <DownloadButton
            does="exportOptOuts"
            label="Export CSV"
            onDownload={() => download('exportOptOuts', {}, 'opt-outs.csv')}
          />
          <Button does="createOptOut" kind="primary" data-key="n" onClick={() => setFront('add')}>
            Create an opt-out
          </Button>
        </>
      }
    >
      <Look />
      <div className="filters" role="search" aria-label="Filters of opt-outs">
        <FilterSelect label="How" options={sourceOptions} {...field('source')} />
        <FilterText label="Reason" placeholder="Words of the reason" {...field('reason')} />
        <FilterDay label="Since" {...field('created_after')} />
        <FilterDay label="to" {...field('created_before')} />
        {isNarrowed && (
          <Button kind="quiet" onClick={clear}>
            Show all
          </Button>
        )}
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
                { title: 'How', cell: ({ source, message }) => <Source source={source} message={message} /> },
                { title: 'Reason', isWide: true, cell: ({ reason }) => reason },
                { title: 'Since', cell: ({ created_at: at }) => <Time at={at} /> },
              ]}
              empty={
                isNarrowed ? (
                  <Empty title="No such opt-outs" action={<Button onClick={clear}>Show all</Button>}>
                    No opt-out fits all of these filters.
                  </Empty>
                ) : (
                  <Empty
                    title="Nobody has opted out"
                    action={
                      <Button does="createOptOut" onClick={() => setFront('add')}>
                        Create an opt-out
                      </Button>
                    }
                  >
                    Who answers STOP to one of your messages appears here, and so does whom you add or import.
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
function Look() {
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
        aria-label="Number to look up"
        placeholder="Number to look up"
        inputMode="tel"
        autoComplete="off"
        value={number}
        onChange={(event) => setNumber(event.target.value)}
      />
      <Button type="submit" disabled={digits === ''}>
        Look it up
      </Button>
    </form>
  )
}

function OptOutLink({ number }: Pick<OptOut, 'number'>) {
  if (number === null) return <span className="none">forgotten</span>
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
