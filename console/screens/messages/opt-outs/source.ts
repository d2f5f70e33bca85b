import type { Operations } from '@heliogram/sdk'

type Source = NonNullable<NonNullable<Operations['listOptOuts']['query']>['source']>

const sources: Record<Source, string> = {
  reply: 'by reply',
  api: 'by hand or by the API',
  import: 'imported',
  consent: 'with a contact',
  review: 'by a person who reviewed a reply',
  carrier: 'refused by the carrier',
}

/** Undefined if unknown. */
export const sourceOf = (text: string | undefined): Source | undefined =>
  Object.keys(sources).find((name): name is Source => name === text)

export function tellSource(text: string): string {
  const source = sourceOf(text)
  return source ? sources[source] : text
}

export const sourceOptions: readonly (readonly [string, string])[] = [['', 'Every source'], ...Object.entries(sources)]
