import type { Sender } from '@heliogram/sdk'

export const kindNames: Record<Sender['kind'], string> = {
  long_code: 'Number',
  toll_free: 'Toll-free number',
  short_code: 'Short code',
  alphanumeric: 'Name',
}

export const kindNamed = (name: string | undefined): Sender['kind'] | undefined =>
  Object.keys(kindNames).find((kind): kind is Sender['kind'] => kind === name)
