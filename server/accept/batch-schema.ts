import { Type } from 'typebox'
import { checkedAlone } from '../ground/http/http.ts'
import { SendInput } from './read-send.ts'

const batchMax = 10_000

/** Messages are checked one by one, so that a wrong one is refused alone. */
export const BatchBody = Type.Object(
  {
    messages: Type.Array(checkedAlone<object>(SendInput, { type: 'object' }), { minItems: 1, maxItems: batchMax }),
    atomic: Type.Optional(Type.Boolean({ description: 'Accept all or none.' })),
  },
  { additionalProperties: false, examples: [{ messages: [{ to: '15551230001', message: 'Hello from Heliogram' }] }] },
)

export const BatchResult = Type.Object({
  object: Type.Literal('batch'),
  accepted: Type.Integer(),
  refused: Type.Integer(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer(),
      status: Type.Integer({ description: 'What a single send would have returned.' }),
      message: Type.Optional(Type.Ref('Message')),
      error: Type.Optional(Type.Ref('Problem')),
    }),
  ),
})
