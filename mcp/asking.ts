/** Asking the person themselves (`--ask`): the client shows them what would happen, and no assistant can answer for them. */
import { inputRequired, inputResponse, type InputRequiredResult } from '@modelcontextprotocol/server'
import { bounded } from './untrusted.ts'

// The longest text whole: nobody agrees to what they were not shown.
const valueMax = 3200

/** What a person is asked: the tool's title, and whatever is known of what would happen. */
export function questionOf(title: string, args: object, effect: unknown): string {
  const known = { ...args, ...(effect as object) }
  const lines = Object.entries(known).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return []
    // A text of several lines must not look like lines of ours.
    const isPlain = typeof value === 'string' && !value.includes('\n')
    return `${name}: ${bounded(isPlain ? value : JSON.stringify(value), valueMax)}`
  })
  return [`${title}?`, ...lines].join('\n')
}

/**
 * Whether the person agreed; where they were not asked yet, what makes the client ask them. `responses` are those of the client, under a key
 * that has the word: what was said of another act is no answer.
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
