import { useState } from 'react'
import { useLocation } from 'wouter'
import { useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { FilterDay, FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { isWholeNumber } from '../../../kit/number.ts'
import { typeOptions } from '../../../kit/message-types.ts'
import { meanings } from '../status.ts'
import type { FilterName, MessageFilter } from './query.ts'

interface MessageFiltersProps {
  filters: MessageFilter
  set: (name: FilterName, value: string) => void
  clear: (() => void) | undefined
}

const statuses: readonly (readonly [string, string])[] = [
  ['', 'Any status'],
  ['scheduled,queued,sending,sent', 'on their way'],
  ['undelivered,rejected,expired,failed', 'all that failed'],
  ...Object.keys(meanings).map((status) => [status, status] as const),
]

/** A message id, as programs log it. */
const messageId = /^msg_[0-9a-z]{26,}$/

const rare: readonly FilterName[] = ['from', 'type', 'tag', 'error_code', 'test', 'created_after', 'created_before']

export function MessageFilters({ filters, set, clear }: MessageFiltersProps) {
  const [, go] = useLocation()
  const [isMore, setMore] = useState(rare.some((name) => filters[name] !== undefined))
  const campaigns = useCall('listCampaigns', { query: { limit: 100 } })
  const isInbound = filters.direction === 'inbound'
  const field = (name: FilterName) => ({
    value: filters[name] ?? '',
    onChange: (value: string) => set(name, value),
  })
  return (
    <div className="filters" role="search" aria-label="Filters of messages">
      <FilterText
        label={isInbound ? 'To your number' : 'Recipient'}
        placeholder={isInbound ? 'To your number' : 'Number or message id'}
        isWhole={(text) => isWholeNumber(text) || messageId.test(text)}
        value={filters.to ?? ''}
        onChange={(value) => (messageId.test(value) ? go(`/messages/${value}`) : set('to', value))}
      />
      {isInbound && (
        <FilterText label="From person" placeholder="Person’s number" isWhole={isWholeNumber} {...field('from')} />
      )}
      <FilterSelect label="Status" options={statuses} {...field('status')} />
      <FilterSelect
        label="Direction"
        options={[
          ['', 'Both directions'],
          ['outbound', 'outbound: sent'],
          ['inbound', 'inbound: replies'],
        ]}
        {...field('direction')}
      />
      <FilterSelect
        label="Campaign"
        options={[['', 'Any campaign'], ...(campaigns.data?.data ?? []).map(({ id, name }) => [id, name] as const)]}
        {...field('campaign')}
      />
      {isMore && (
        <>
          {!isInbound && <FilterText label="Sender" placeholder="Sender" {...field('from')} />}
          <FilterSelect label="Type" options={typeOptions('Any type')} {...field('type')} />
          <FilterText label="Tag" {...field('tag')} />
          <FilterText label="Code of the error" {...field('error_code')} />
          <FilterSelect
            label="Test mode"
            options={[
              ['', 'Live and test'],
              ['false', 'live only'],
              ['true', 'test only'],
            ]}
            {...field('test')}
          />
          <FilterDay label="From" {...field('created_after')} />
          <FilterDay label="to" {...field('created_before')} />
        </>
      )}
      <Button kind="quiet" aria-expanded={isMore} onClick={() => setMore(!isMore)}>
        {isMore ? 'Fewer filters' : 'More filters'}
      </Button>
      {clear && (
        <Button kind="quiet" onClick={clear}>
          Show all
        </Button>
      )}
    </div>
  )
}
