import type { Conversation } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { useDebounced } from '../../../kit/debounced.ts'
import { useDraft } from '../../../kit/draft.ts'
import { CheckField, Form, TextArea } from '../../../kit/form.tsx'
import { tellCount } from '../../../kit/show.tsx'
import { InsertTemplate } from './insert.tsx'

export function ReplyBox({ conversation }: { conversation: Conversation }) {
  const { id, campaign } = conversation
  const [{ message }, setDraft, forget] = useDraft(`reply ${id}`, { message: '' })
  const [isOfCampaign, setOfCampaign] = useState(false)
  const settled = useDebounced(message)
  const preview = useCall('previewMessage', { body: { message: settled } }, { enabled: settled !== '' })
  const reply = useAction('replyInConversation')
  const write = (text: string) => {
    setDraft({ message: text })
    if (reply.problem) reply.reset()
  }
  const send = async () => {
    if (reply.isBusy) return
    const body = { message, ...(isOfCampaign && campaign !== null && { campaign }) }
    if ((await reply.run({ path: { conversation: id }, body })) === undefined) return
    write('')
    forget()
  }
  const { segments, encoding } = preview.data ?? {}
  return (
    <Form does="replyInConversation" onSubmit={send} problem={reply.problem}>
      <TextArea
        label="Reply"
        name="message"
        rows={3}
        data-key="r"
        value={message}
        onChange={write}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
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
      <div className="buttons">
        <Button kind="primary" type="submit" isBusy={reply.isBusy}>
          Send reply
        </Button>
        <InsertTemplate into={conversation} onInsert={(text) => write(message === '' ? text : `${message} ${text}`)} />
        {campaign !== null && (
          <CheckField
            label="Send as part of the campaign"
            name="campaign"
            value={isOfCampaign}
            onChange={setOfCampaign}
          />
        )}
      </div>
    </Form>
  )
}
