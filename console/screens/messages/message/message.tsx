import type { Message } from '@heliogram/sdk'
import { Link, useParams } from 'wouter'
import { useCall } from '../../../api.ts'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, Moment, PhoneNumber } from '../../../kit/show.tsx'
import { meanings, personOf, tellHold, tellPerson } from '../status.ts'
import { MessageText } from '../text.tsx'
import { MessageActions } from './actions.tsx'
import { MessageFacts } from './facts.tsx'
import { MessageLinks } from './links.tsx'
import { Timeline } from './timeline.tsx'

const everyMs = 2000

export function MessageScreen() {
  const { id = '' } = useParams()
  // Another message is another screen: no state is kept.
  return <OneMessage key={id} id={id} />
}

function OneMessage({ id }: { id: string }) {
  const call = useCall('getMessage', { path: { id } }, { every: (one) => (one?.final ? undefined : everyMs) })
  const message = call.data
  const live = message?.final ? {} : { every: everyMs }
  const title = message ? titleOf(message) : 'Message'
  return (
    <Page
      title={title}
      heading={message && headingOf(message)}
      back={{ to: '/messages', title: 'Messages' }}
      lead={
        message && (
          <>
            <Badge status={message.status} /> {meanings[message.status]}
          </>
        )
      }
      actions={message && <MessageActions message={message} />}
    >
      <Loaded call={call}>
        {(it) => (
          <>
            <Concerns of={it} />
            <div className="message">
              <div>
                <div
                  className={`bubble text message-text ${it.direction}`}
                  role="group"
                  aria-label="Text"
                  dir={it.message === null ? undefined : 'auto'}
                >
                  <MessageText of={it} />
                </div>
                <Section title="Timeline">
                  <Timeline of={it} onNewer={call.refetch} />
                </Section>
                <MessageLinks id={id} live={live} />
              </div>
              <aside className="card" aria-label="Details">
                <h2>Details</h2>
                <MessageFacts of={it} />
              </aside>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const titleOf = (message: Message): string =>
  `${message.direction === 'outbound' ? 'To' : 'From'} ${tellPerson(personOf(message))}`

const headingOf = (message: Message) => (
  <>
    {message.direction === 'outbound' ? 'To' : 'From'}{' '}
    {personOf(message) === null ? tellPerson(null) : <PhoneNumber of={personOf(message)} />}
  </>
)

/** Most urgent for support: why it failed or waits, and warnings. */
function Concerns({
  of: { error, hold, final, possible_duplicate, partial, warnings = [], in_reply_to },
}: {
  of: Message
}) {
  return (
    <>
      {error && (
        <div className={error.permanent && final ? 'problem' : 'notice'} role="note">
          <p>
            <strong>{error.title}</strong>
            {/* Details mostly begin with their title, followed by the carrier's words. */}
            {error.detail.startsWith(error.title) ? error.detail.slice(error.title.length) : ` ${error.detail}`}
          </p>
          {error.advice && <p>{error.advice}</p>}
          <p className="small">
            <a href={`/docs/errors#${error.code}`} target="_blank" rel="noreferrer">
              {error.code}
            </a>
            {final &&
              (error.permanent
                ? ' · Sending the same message again would fail.'
                : ' · Sending the same message again may succeed.')}
          </p>
        </div>
      )}
      {hold && (
        <div className="notice" role="note">
          {tellHold(hold.reason)}{' '}
          {hold.until && (
            <>
              Until <Moment at={hold.until} />.
            </>
          )}
        </div>
      )}
      {possible_duplicate && (
        <div className="notice" role="note">
          The message was resent after an unknown outcome. The recipient may have it twice.
        </div>
      )}
      {partial && (
        <div className="notice" role="note">
          Parts of this long reply are missing.
        </div>
      )}
      {warnings.length > 0 && (
        <ul className="warnings">
          {warnings.map(({ code, detail }) => (
            <li key={code} className="small">
              {detail}
            </li>
          ))}
        </ul>
      )}
      {in_reply_to && (
        <p className="small">
          In reply to <Link href={`/messages/${in_reply_to}`}>your message</Link>.
        </p>
      )}
    </>
  )
}
