/** Where opt-outs come from, in words. */
const sources: Record<string, string> = {
  reply: 'they said so',
  api: 'by hand or by the API',
  import: 'imported',
  consent: 'came with a contact',
  review: 'a suspicion was confirmed',
}

export const tellSource = (source: string): string => sources[source] ?? source
