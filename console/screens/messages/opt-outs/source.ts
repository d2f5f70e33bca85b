import type { Operations } from '@heliogram/sdk'

type Source = NonNullable<NonNullable<Operations['listOptOuts']['query']>['source']>

const sources: Record<Source, string> = {
  reply: 'Reply',
  api: 'Console or API',
  import: 'Import',
  consent: 'Contact’s consent',
  review: 'Reviewed reply',
  carrier: 'Carrier',
}

/** Undefined if unknown. */
export const sourceOf = (text: string | undefined): Source | undefined =>
  Object.keys(sources).find((name): name is Source => name === text)

export function tellSource(text: string): string {
  const source = sourceOf(text)
  return source ? sources[source] : text
}

export const sourceOptions: readonly (readonly [string, string])[] = [['', 'Any source'], ...Object.entries(sources)]
