import type { Message } from '@heliogram/sdk'
import { textHidden } from '../../kit/may.tsx'

export function MessageText({
  of: { message, redacted, text_unavailable },
  isShort = false,
}: {
  of: Message
  isShort?: boolean
}) {
  if (message !== null && !redacted) return <span dir="auto">{message}</span>
  return (
    <span className="none">{isShort ? (redacted ? 'redacted' : 'hidden') : whyNone(redacted, text_unavailable)}</span>
  )
}

function whyNone(isRedacted = false, isUnavailable = false): string {
  if (isRedacted) return 'The text was redacted.'
  if (isUnavailable) return 'The text cannot be decrypted: its key is missing, or the text was changed.'
  return textHidden
}
