/** Where opt-outs come from, in words. */
import type { Operations } from '@heliogram/sdk'

type Source = NonNullable<NonNullable<Operations['listOptOuts']['query']>['source']>

const sources: Record<Source, string> = {
  reply: 'they said so',
  api: 'by hand or by the API',
  import: 'imported',
  consent: 'came with a contact',
  review: 'a suspicion was confirmed',
  carrier: 'Refused by the carrier',
}

/** The source that an address says; none otherwise. */
export const sourceOf = (text: string | undefined): Source | undefined =>
  Object.keys(sources).find((name): name is Source => name === text)

export function tellSource(text: string): string {
  const source = sourceOf(text)
  return source ? sources[source] : text
}

export const sourceOptions: readonly (readonly [string, string])[] = [
  ['', 'However they came'],
  ...Object.entries(sources),
]
