import type { Conversation } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { toast } from '../../../kit/toast.tsx'

interface StateButtonProps {
  of: Conversation
  /** Id of the last message shown: if the person has written since, the conversation stays open. */
  last: string | undefined
}

export function StateButton({ of: { id, state }, last }: StateButtonProps) {
  const change = useAction('updateConversation')
  const path = { conversation: id }
  const close = async () => {
    const body = { state: 'closed' as const, ...(last !== undefined && { last_message: last }) }
    const done = await change.run({ path, body })
    if (done)
      toast(
        done.answer.state === 'closed'
          ? 'Conversation closed. The next reply reopens it.'
          : 'The person has just replied, so the conversation stays open.',
      )
  }
  const open = async () => {
    if (await change.run({ path, body: { state: 'open' } })) toast('Conversation reopened.')
  }
  return (
    <>
      {change.problem && <Problem of={change.problem} />}
      <Button
        does="updateConversation"
        isBusy={change.isBusy}
        data-key="e"
        onClick={() => void (state === 'open' ? close() : open())}
      >
        {state === 'open' ? 'Close' : 'Reopen'}
      </Button>
    </>
  )
}
