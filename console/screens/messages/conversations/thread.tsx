import type { Message } from '@heliogram/sdk'
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Badge, Moment } from '../../../kit/show.tsx'
import { MessageText } from '../text.tsx'

interface ThreadProps {
  /** Newest first, as the API lists them. */
  messages: readonly Message[]
  /** Number of unread replies. */
  unread: number
  /** Above the earliest one. */
  children: ReactNode
}

/** Within this distance of the end, new messages scroll into view. Pixels. */
const nearPx = 120

export function Thread({ messages, unread, children }: ThreadProps) {
  const list = useRef<HTMLOListElement>(null)
  const isAtEnd = useRef(true)
  const last = messages[0]?.id
  useLayoutEffect(() => {
    const { current: shown } = list
    if (!shown) return undefined
    const follow = () => {
      if (isAtEnd.current) shown.scrollTop = shown.scrollHeight
    }
    follow()
    // The reply box below it comes later, and grows.
    const resized = new ResizeObserver(follow)
    resized.observe(shown)
    return () => resized.disconnect()
  }, [last])
  const replies = messages.filter(({ direction, keyword }) => direction === 'inbound' && !keyword)
  // Stays marked after it has been read, until it is answered.
  const firstUnread = useRef<string>(undefined)
  if (unread > 0) firstUnread.current ??= replies[Math.min(unread, replies.length) - 1]?.id
  const later = messages.slice(
    0,
    Math.max(
      0,
      messages.findIndex(({ id }) => id === firstUnread.current),
    ),
  )
  if (later.some(({ direction, automatic }) => direction === 'outbound' && !automatic)) firstUnread.current = undefined
  return (
    <ol
      className="thread"
      aria-label="Messages"
      tabIndex={0}
      ref={list}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearPx
      }}
    >
      {children && <li className="earlier">{children}</li>}
      {messages.toReversed().map((message) => (
        <li key={message.id} className={`bubble ${message.direction}`}>
          {message.id === firstUnread.current && <span className="new">New</span>}
          <span className="text" dir="auto">
            <MessageText of={message} />
          </span>
          <span className="small">
            <Link href={`/messages/${message.id}`}>
              <Moment at={message.created_at} />
            </Link>{' '}
            {message.direction === 'outbound' && <Badge status={message.status} />}
            {message.automatic && ' automatic'}
            {message.keyword && <Badge status={message.keyword} />}
          </span>
        </li>
      ))}
    </ol>
  )
}
