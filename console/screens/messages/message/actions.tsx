/** Actions that the message's state allows. */
import type { Message } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { canCancel, canRedact, canResend, personOf } from '../status.ts'

export function MessageActions({ message }: { message: Message }) {
  const path = { id: message.id }
  const cancel = useAction('cancelMessage', 'Message canceled.')
  const resend = useAction('resendMessage', 'Message queued again.')
  const redact = useAction('redactMessage', 'Text redacted.')
  const person = personOf(message)
  return (
    <>
      {message.conversation && (
        <LinkButton to={`/conversations/${message.conversation}`} does="replyInConversation">
          Conversation
        </LinkButton>
      )}
      {person && (
        <LinkButton to={`/messages/new?to=${encodeURIComponent(person)}`} does="sendMessage">
          New message
        </LinkButton>
      )}
      {canCancel(message) && (
        <ConfirmButton
          does="cancelMessage"
          label="Cancel message"
          question="The message will not be sent. You cannot undo this."
          onConfirm={() => cancel.run({ path })}
          isBusy={cancel.isBusy}
          problem={cancel.problem}
        />
      )}
      {canResend(message) && (
        <ConfirmButton
          does="resendMessage"
          label="Resend message"
          question="The recipient may already have this message and could get it twice. The message is marked as a possible duplicate, and your name is recorded."
          onConfirm={() => resend.run({ path })}
          isBusy={resend.isBusy}
          problem={resend.problem}
        />
      )}
      {canRedact(message) && (
        <ConfirmButton
          does="redactMessage"
          label="Redact text"
          question="The text is deleted permanently from the message, its events and their deliveries. Numbers, times, segments and the outcome stay."
          onConfirm={() => redact.run({ path })}
          isBusy={redact.isBusy}
          problem={redact.problem}
        />
      )}
    </>
  )
}
