import { Type, type Static } from 'typebox'
import { actorOf, showActorId } from '../ground/audit/audit.ts'
import type { Tx } from '../ground/db/db.ts'
import type { Faults } from '../ground/http/faults.ts'
import { Nullable, type Caller } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import { findMessage } from '../message/store.ts'
import { assignConversation, setState } from './store.ts'

export const ConversationChange = Type.Object(
  {
    assignee: Type.Optional(
      Nullable(Type.String({ maxLength: 255, description: 'Id of a user of the account; null: nobody.' })),
    ),
    state: Type.Optional(Type.Enum(['open', 'closed'], { description: 'Closing does not mark anything as read.' })),
    last_message: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'With `state` closed: id of the last message you have seen. If the person has sent another since, the conversation stays open.',
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, examples: [{ assignee: null }] },
)
type ConversationChange = Static<typeof ConversationChange>

/** @throws ApiError with every fault; then everything is rolled back. */
export async function changeConversation(
  tx: Tx,
  caller: Caller,
  id: string,
  change: ConversationChange,
  faults: Faults,
): Promise<void> {
  const { accountId } = caller
  const refuse = (field: string, detail: string): void => faults.add(`#/${field}`, 'invalid_value', detail)
  const { assignee, state, last_message: last } = faults.sound(change)
  if (assignee !== undefined) {
    const userId = assignee === null ? null : parseId('usr', assignee)
    const isKnown = assignee === null || userId !== null
    if (!isKnown || !(await assignConversation(tx, accountId, id, userId)))
      refuse('assignee', 'is not a user of this account')
  }
  const lastSeenId = last === undefined ? null : parseId('msg', last)
  if (last !== undefined && state !== 'closed') refuse('last_message', 'can only be used with the state closed')
  else if (last !== undefined && (lastSeenId === null || !(await findMessage(tx, accountId, lastSeenId))))
    refuse('last_message', 'is not the id of a message')
  faults.end()
  if (state === 'open') await setState(tx, accountId, id, 'open')
  if (state === 'closed')
    await setState(tx, accountId, id, { closedBy: showActorId(actorOf(caller)) ?? '', lastSeenId })
}
