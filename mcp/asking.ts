/** Asks the person (`--ask`): the client shows the effect, and no assistant can answer instead. */
import { inputRequired, inputResponse, type InputRequiredResult } from '@modelcontextprotocol/server'
import { bounded } from './untrusted.ts'

// The longest text in full: consent requires it.
const valueMax = 3200

/** The question: the tool's title, and all that is known of the effect. */
export function questionOf(title: string, args: object, effect: unknown): string {
  const known = { ...args, ...(effect as object) }
  const lines = Object.entries(known).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return []
    // A text of several lines must not look like our own lines.
    const isPlain = typeof value === 'string' && !value.includes('\n')
    return `${name}: ${bounded(isPlain ? value : JSON.stringify(value), valueMax)}`
  })
  return [`${title}?`, ...lines].join('\n')
}

/**
 * Whether the person agreed; if not asked yet, a request for the client to ask. The client's `responses` have a key with the word, so an answer
 * about another act does not count.
 */
export function askPerson(
  responses: Record<string, unknown> | undefined,
  word: string,
  question: string,
): 'agreed' | 'declined' | InputRequiredResult {
  const key = `agreed-${word}`
  const said = inputResponse(responses, key)
  if (said.kind !== 'missing') return said.kind === 'elicit' && said.action === 'accept' ? 'agreed' : 'declined'
  const nothing = { type: 'object' as const, properties: {} }
  return inputRequired({
    inputRequests: { [key]: inputRequired.elicit({ message: question, requestedSchema: nothing }) },
  })
}
