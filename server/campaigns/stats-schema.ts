import { Type, type Static } from 'typebox'
import { Costs, countFields } from '../usage/counts.ts'

const Count = Type.Integer({ minimum: 0 })
const { messages: _messages, cost: _cost, ...ofMessages } = countFields

/** All counts are of the same moment. */
export const Stats = Type.Object(
  {
    recipients: Count,
    ...ofMessages,
    failures: Type.Record(Type.String(), Count, {
      description: '`failed` by reason: an error code, or `unknown`.',
    }),
    skipped: Type.Object({ opted_out: Count, invalid: Count, duplicate: Count, quiet_hours: Count }),
    opt_outs: Type.Integer({
      minimum: 0,
      description:
        'People who answered one of the messages with STOP, or whose carrier refused one because they had opted out, and who have not opted in again.',
    }),
    clicks: Count,
    cost: Costs,
  },
  {
    description:
      '`recipients` is always the sum of `queued`, `sent`, `delivered`, `failed`, `unconfirmed`, `canceled` and `skipped`. Recipients whose turn has not come count as `queued`. Automatic replies do not count. A campaign counts the recipients of its broadcasts and its other messages.',
  },
)
export type Stats = Static<typeof Stats>
