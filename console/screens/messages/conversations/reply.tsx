import type { Conversation } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { useDebounced } from '../../../kit/debounced.ts'
import { Buttons, CheckField, Form, TextArea } from '../../../kit/form.tsx'
import { tellCount } from '../../../kit/show.tsx'

interface ReplyBoxProps {
  conversation: Conversation
  /** Replying marks the conversation as read. */
  onSent: () => unknown
}

export function ReplyBox({ conversation: { id, unread, campaign }, onSent }: ReplyBoxProps) {
  const [message, setMessage] = useState('')
  const [isOfCampaign, setOfCampaign] = useState(false)
  const settled = useDebounced(message)
  const preview = useCall('previewMessage', { body: { message: settled } }, { enabled: settled !== '' })
  const reply = useAction('replyInConversation')
  const send = async () => {
    if (reply.isBusy) return
    const body = { message, ...(isOfCampaign && campaign !== null && { campaign }) }
    if ((await reply.run({ path: { conversation: id }, body })) === undefined) return
    setMessage('')
    if (unread > 0) await onSent()
  }
  const { segments, encoding } = preview.data ?? {}
  return (
    <Form does="replyInConversation" onSubmit={send} problem={reply.problem}>
      <TextArea
        label="Answer"
        name="message"
        rows={3}
        value={message}
        onChange={(text) => {
          setMessage(text)
          if (reply.problem) reply.reset()
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void send()
        }}
        hint={
          settled !== '' && segments !== undefined
            ? `${tellCount(segments, 'segment')} of ${encoding}`
            : 'Press Ctrl+Enter to send.'
        }
      />
      {campaign !== null && (
        <CheckField
          label="Of the conversation’s campaign"
          name="campaign"
          value={isOfCampaign}
          onChange={setOfCampaign}
          hint="Uses the defaults and keywords of the campaign. The person’s reply will belong to the campaign, too."
        />
      )}
      <Buttons>
        <Button kind="primary" type="submit" isBusy={reply.isBusy}>
          Send
        </Button>
      </Buttons>
    </Form>
  )
}
