import type { Route } from '@heliogram/sdk'
import { typeNames } from '../../../kit/message-types.ts'

/** Most items of a list in a description. */
const toldOneByOne = 6

const list = (items: readonly string[]): string =>
  items.length <= toldOneByOne
    ? items.join(', ')
    : `${items.slice(0, toldOneByOne).join(', ')} and ${items.length - toldOneByOne} more`

export function tellMatch({ account, campaign, type, countries, prefixes, senders }: Route['match']): string {
  const parts = [
    type && typeNames[type],
    countries && `to ${list(countries)}`,
    prefixes && `to ${list(prefixes.map((prefix) => `+${prefix} …`))}`,
    senders && `from ${list(senders)}`,
    campaign && `of campaign ${campaign}`,
    account && `of account ${account}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'Everything' : parts.join(', ')
}
