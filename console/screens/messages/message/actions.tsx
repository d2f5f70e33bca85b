/** Actions that the message's state allows. */
import type { Message } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { personOf } from '../status.ts'

export function MessageActions({ message }: { message: Message }) {
  const { id, status, final, expires_at: expires, redacted } = message
  const path = { id }
  const cancel = useAction('cancelMessage', 'The message is canceled.')
  const resend = useAction('resendMessage', 'The message is on its way again.')
  const redact = useAction('redactMessage', 'The text is removed.')
  const isPast = typeof expires === 'string' && new Date(expires).getTime() < Date.now()
  const canRedact = (final || (status === 'unconfirmed' && isPast)) && !redacted && message.message !== null
  const person = personOf(message)
  return (
    <>
      {(status === 'scheduled' || status === 'queued') && (
        <ConfirmButton
          does="cancelMessage"
          label="Cancel the message"
          question="It will not be sent, and cannot be sent later: you would write another."
          onConfirm={() => cancel.run({ path })}
          isBusy={cancel.isBusy}
          problem={cancel.problem}
        />
      )}
      {status === 'unconfirmed' && (
        <ConfirmButton
          does="resendMessage"
          label="Send it again"
          question="Nobody knows whether the recipient has it: they may get it twice, and the message will say so from then on. It is noted who asked for it."
          onConfirm={() => resend.run({ path })}
          isBusy={resend.isBusy}
          problem={resend.problem}
        />
      )}
      {canRedact && (
        <ConfirmButton
          does="redactMessage"
          label="Remove the text"
          question="The text is removed from the message, its events and its webhooks, for ever. Numbers, times, segments and the outcome stay."
          onConfirm={() => redact.run({ path })}
          isBusy={redact.isBusy}
          problem={redact.problem}
        />
      )}
      {message.conversation && (
        <LinkButton to={`/conversations/${message.conversation}`} does="replyInConversation">
          Conversation
        </LinkButton>
      )}
      {person && (
        <LinkButton to={`/messages/new?to=${encodeURIComponent(person)}`} does="sendMessage">
          Write to this person
        </LinkButton>
      )}
    </>
  )
}
