/** The text of a message, or why there is none. */
import type { Message } from '@heliogram/sdk'

export function MessageText({ of: { message, redacted, text_unavailable } }: { of: Message }) {
  if (message !== null && !redacted) return <>{message}</>
  return <span className="none">{whyNone(redacted, text_unavailable)}</span>
}

function whyNone(isRedacted = false, isUnavailable = false): string {
  if (isRedacted) return 'The text was removed.'
  if (isUnavailable) return 'The text cannot be decrypted: its key is gone, or it was changed.'
  return 'Your role does not show texts.'
}
