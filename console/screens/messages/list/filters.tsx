import { useState } from 'react'
import { useLocation } from 'wouter'
import { useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { FilterDay, FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { isWholeNumber } from '../../../kit/number.ts'
import { typeOptions } from '../../../kit/message-types.ts'
import { Views } from '../../../kit/views.tsx'
import { meanings } from '../status.ts'
import type { FilterName, MessageFilter } from './query.ts'

interface MessageFiltersProps {
  filters: MessageFilter
  set: (name: FilterName, value: string) => void
  clear: (() => void) | undefined
}

const statuses: readonly (readonly [string, string])[] = [
  ['', 'Any status'],
  ['scheduled,queued,sending,sent', 'in progress'],
  ['undelivered,rejected,expired,failed', 'failed (any reason)'],
  ...Object.keys(meanings).map((status) => [status, status] as const),
]

/** A message id, as programs log it. */
const messageId = /^msg_[0-9a-z]{26,}$/

const rare: readonly FilterName[] = ['to', 'from', 'type', 'tag', 'error_code', 'test']

export function MessageFilters({ filters, set, clear }: MessageFiltersProps) {
  const [, go] = useLocation()
  const [isMore, setMore] = useState(rare.some((name) => filters[name] !== undefined))
  const campaigns = useCall('listCampaigns', { query: { limit: 200 } })
  const field = (name: FilterName) => ({
    value: filters[name] ?? '',
    onChange: (value: string) => set(name, value),
  })
  return (
    <div className="filters" role="search" aria-label="Filters of messages">
      <FilterText
        label="Number or message ID"
        isWhole={(text) => isWholeNumber(text) || messageId.test(text)}
        hint="Enter a full number with country code, or a message ID."
        value={filters.number ?? ''}
        onChange={(value) => (messageId.test(value) ? go(`/messages/${value}`) : set('number', value))}
      />
      <FilterSelect label="Status" options={statuses} {...field('status')} />
      <FilterSelect
        label="Direction"
        options={[
          ['', 'Any direction'],
          ['outbound', 'sent'],
          ['inbound', 'received'],
        ]}
        {...field('direction')}
      />
      <FilterSelect
        label="Campaign"
        options={[['', 'Any campaign'], ...(campaigns.data?.data ?? []).map(({ id, name }) => [id, name] as const)]}
        {...field('campaign')}
      />
      <FilterDay label="After" {...field('created_after')} />
      <FilterDay label="Before" {...field('created_before')} />
      {isMore && (
        <>
          <FilterSelect label="Type" options={typeOptions('Any type')} {...field('type')} />
          <FilterSelect
            label="Mode"
            options={[
              ['', 'Live and test'],
              ['false', 'live'],
              ['true', 'test'],
            ]}
            {...field('test')}
          />
          <FilterText
            isChip
            label="To"
            isWhole={isWholeNumber}
            hint="Enter a full number with country code."
            {...field('to')}
          />
          <FilterText isChip label="From" {...field('from')} />
          <FilterText isChip label="Tag" {...field('tag')} />
          <FilterText isChip label="Error code" {...field('error_code')} />
        </>
      )}
      <Button kind="quiet" aria-expanded={isMore} onClick={() => setMore(!isMore)}>
        {isMore ? 'Fewer filters' : 'More filters'}
      </Button>
      {clear && (
        <Button kind="quiet" onClick={clear}>
          Clear filters
        </Button>
      )}
      <Views list="messages" />
    </div>
  )
}
