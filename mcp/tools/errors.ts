import { z } from 'zod'
import { readMeanings, Refusal } from '../refusal.ts'
import { defineReading } from '../tool.ts'

export const explainError = defineReading({
  name: 'explain_error',
  title: 'Explain an error code',
  description:
    'Explains an error code of the API, of a field, or of a message: its meaning, whether a retry can help, and what to do.',
  scopes: [],
  input: z.strictObject({
    code: z.string().min(1).max(64).describe('Such as unknown_subscriber or insufficient_scope.'),
  }),
  output: z.object({
    meanings: z.array(
      z.object({
        of: z
          .enum(['answer', 'field', 'message'])
          .describe('Where it occurs: a response of the API, a field, or a failed message.'),
        code: z.string(),
        title: z.string(),
        advice: z.string().nullable(),
        status: z.number().nullable().describe('HTTP status of the response.'),
        can_retry: z.boolean().nullable().describe('Whether the same can succeed later, unchanged.'),
      }),
    ),
  }),
  async read({ client, signal }, { code }) {
    const { data, fields, messages } = await readMeanings(client, signal)
    const meanings = [
      ...data.map((one) => ({ ...one, of: 'answer' as const, can_retry: one.retryable })),
      ...fields.map((one) => ({ ...one, of: 'field' as const, advice: null, status: null, can_retry: null })),
      ...messages.map((one) => ({ ...one, of: 'message' as const, status: null, can_retry: !one.permanent })),
    ].filter((one) => one.code === code)
    if (meanings.length > 0) return { meanings }
    const known = [data, fields, messages].flatMap((list) => list.map((one) => one.code))
    const words = code.toLowerCase().split(/[^a-z0-9]+/)
    const near = known.filter((one) => words.some((word) => word.length > 2 && one.includes(word)))
    throw new Refusal(
      'error_code_unknown',
      `There is no error code ${JSON.stringify(code)}.`,
      near.length > 0
        ? `Did you mean one of these: ${near.slice(0, 10).join(', ')}?`
        : 'The page "api/errors" of the manual lists all.',
    )
  },
})
