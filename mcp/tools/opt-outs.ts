import { z } from 'zod'
import { defineReading } from '../tool.ts'

export const checkOptOuts = defineReading({
  name: 'check_opt_outs',
  title: 'Check opt-outs',
  description:
    'Checks up to 100 numbers: whether they have opted out, and since when. Nothing can be sent to those. Use it before you send messages to people.',
  scopes: ['messages:read'],
  input: z.strictObject({
    numbers: z
      .array(z.string().min(1).max(40))
      .min(1)
      .max(100)
      .describe('Numbers with country code, such as ["15551234567"].'),
  }),
  output: z.object({
    numbers: z.array(
      z.object({
        number: z.string().describe('As in the request.'),
        valid: z.boolean(),
        opted_out: z.boolean(),
        since: z.string().nullable(),
      }),
    ),
  }),
  async read({ client, signal }, body) {
    const { data } = await client.call('checkOptOuts', { body }, { signal })
    return { numbers: data.map((one, i) => ({ ...one, number: body.numbers[i] ?? one.number })) }
  },
})
