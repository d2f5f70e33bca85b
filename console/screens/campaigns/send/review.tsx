/** What a broadcast would do, before it is started: messages, cost, time, and who is skipped. */
import type { Campaign } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { alphabetOf } from '../../../compose/rare.ts'
import { SendTest } from '../../../compose/send-test.tsx'
import { senderOf, senderValue } from '../../../compose/sender.tsx'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { formatCode, formatShare, formatSums } from '../../../kit/format.ts'
import { cleanNumber } from '../../../kit/number.ts'
import { Section } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { Facts, Figure, Figures, formatNumber, tellCount } from '../../../kit/show.tsx'
import { tellDuration } from '../broadcasts/rate.ts'
import { isUnderWay } from '../states.ts'
import { Skips, type DryRun } from './dry-run.tsx'
import { typeOfBroadcast, type Order, type SendDraft } from './draft.ts'
import { QuietHours, Sender, usePace } from './defaults.tsx'
import { typographic } from './typographic.ts'

/** More messages than this need the number typed. */
const bigFrom = 1000

interface ReviewProps {
  campaign: Campaign
  draft: SendDraft
  order: Order
  result: DryRun
  onBack: () => void
  /** Replaces typographic characters, and looks again. */
  onSmart: () => void
}

export function Review({ campaign, draft, order, result, onBack, onSmart }: ReviewProps) {
  const { recipients, messages, segments, cost, skipped, skips, sample } = result
  const pace = usePace(campaign, draft)
  const passedOver = recipients - messages
  return (
    <div className="review">
      <p>
        <Button kind="quiet" onClick={onBack}>
          ← Edit broadcast
        </Button>
      </p>
      <h2>Review and {draft.when === 'now' ? 'send' : 'schedule'}</h2>
      <Figures>
        <Figure value={formatNumber(messages)} label="messages" />
        <Figure value={formatNumber(segments)} label="segments" />
        {cost.length > 0 && <Figure value={formatSums(cost)} label="estimated cost" />}
        {pace !== null && pace > 0 && (
          <Figure value={tellDuration(segments / pace)} label={`at ${formatNumber(Math.round(pace * 10) / 10)}/s`} />
        )}
      </Figures>
      <Unicode result={result} draft={draft} onSmart={onSmart} />
      <div className="beside">
        <Section title="Details">
          <Facts
            facts={[
              ['From', <Sender key="from" campaign={campaign} draft={draft} />],
              [
                'To',
                `${formatNumber(recipients)} ${order.audience ? `contacts tagged ${order.audience.tags.join(' or ')}` : `contacts of ${campaign.name}`}`,
              ],
              ['When', tellWhen(draft)],
              ['Type', formatCode(typeOfBroadcast(campaign, draft))],
              ['Quiet hours', <QuietHours key="quiet" campaign={campaign} draft={draft} />],
              [
                'Sending rate',
                pace === null
                  ? 'As fast as your carriers allow'
                  : `${formatNumber(Math.round(pace * 60))} segments/min`,
              ],
              [
                'Cost',
                cost.length === 0 && (
                  <>
                    Unknown. <Link href="/carriers">Add a rate card</Link> to a carrier to see it.
                  </>
                ),
              ],
              ['Longest message', tellCount(result.segments_max, 'segment')],
              ['Skipped', passedOver > 0 && tellSkipped(skipped)],
            ]}
          />
        </Section>
        {sample !== null && (
          <Section title="First recipient’s message">
            <p className="sample" dir="auto">
              {sample}
            </p>
          </Section>
        )}
      </div>
      <div className="section">
        <Launch campaign={campaign} draft={draft} order={order} result={result} />
      </div>
      {skips.length > 0 && (
        <div className="section">
          <Fold title={`Skipped contacts (${formatNumber(passedOver)})`}>
            <Skips skips={skips} campaign={campaign.id} order={order} />
          </Fold>
        </div>
      )}
    </div>
  )
}

/** Names outside GSM-7 may cost as much as the text itself. */
function Unicode({ result, draft, onSmart }: Pick<ReviewProps, 'result' | 'draft' | 'onSmart'>) {
  const { encodings, messages, segments, ucs2_extra: extra } = result
  const count = encodings['UCS-2']
  if (count === 0 || extra.segments === 0) return null
  const isCurable = !draft.isSmart && extra.characters.some((character) => typographic.has(character))
  const price = formatSums(extra.cost)
  return (
    <div className="notice">
      <p>
        <strong>
          {tellCount(extra.segments, 'extra segment')}
          {price && ` (${price})`} because of special characters.
        </strong>{' '}
        {formatShare(count, messages)} of the messages have characters that don’t fit the GSM-7 alphabet (
        {extra.characters.join(' ')}), in the text or in fields such as names. They are sent in UCS-2, which fits 70
        characters into a segment instead of 160. Without them it would be{' '}
        {tellCount(segments - extra.segments, 'segment')}.
      </p>
      {isCurable && (
        <p className="below">
          <Button onClick={onSmart}>Replace typographic characters</Button>
        </p>
      )}
    </div>
  )
}

function Launch({ campaign, draft, order, result }: Pick<ReviewProps, 'campaign' | 'draft' | 'order' | 'result'>) {
  const [, go] = useLocation()
  const [isAsking, setAsking] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const [typed, setTyped] = useState('')
  const action = useAction('sendCampaign', draft.when === 'now' ? 'Broadcast started.' : 'Broadcast scheduled.')
  const label = `${draft.when === 'now' ? 'Send' : 'Schedule'} ${tellCount(result.messages, 'message')}`
  const settings = useCall('getSettings', {}, { isSide: true })
  const most = settings.data?.approval.recipients_above ?? null
  const send = async () => {
    const done = await action.run({ path: { campaign: campaign.id }, body: order })
    if (done?.answer.object === 'broadcast') go(`/broadcasts/${done.answer.id}`)
  }
  if (isUnderWay(campaign.status))
    return <p className="notice">Another broadcast of this campaign is in progress. Wait until it is completed.</p>
  if (result.messages === 0)
    return (
      <p className="notice">
        Nobody would get this broadcast, so there is nothing to send. {tellMissing(result.skips)}
      </p>
    )
  return (
    <>
      {most !== null && result.recipients > most && (
        <p className="notice">
          Broadcasts to more than {tellCount(most, 'recipient')} wait until somebody else approves them.
        </p>
      )}
      {action.problem && <Problem of={action.problem} />}
      <div className="buttons">
        <Button
          does="sendCampaign"
          kind="primary"
          isBusy={action.isBusy}
          onClick={() => (result.messages > bigFrom ? setAsking(true) : void send())}
        >
          {label}
        </Button>
        {result.sample !== null && (
          <Button does="sendMessage" onClick={() => setTesting(true)}>
            Send yourself a test
          </Button>
        )}
      </div>
      {isTesting && result.sample !== null && (
        <SendTest
          text={result.sample}
          hint="With its country code. You get the text of the first recipient; it doesn’t count in the broadcast."
          bodyOf={(to) => ({
            to: cleanNumber(to),
            message: result.sample ?? '',
            ...senderOf(draft.sender || senderValue(campaign.from, campaign.sender_pool)),
            ...alphabetOf(draft),
          })}
          onClose={() => setTesting(false)}
        />
      )}
      {isAsking && (
        <Dialog title={`${label}?`} onClose={() => setAsking(false)}>
          <p className="question">
            Messages that a carrier has can’t be recalled. Type <strong>{result.messages}</strong> to confirm.
          </p>
          <Form does="sendCampaign" onSubmit={() => (isSame(typed, result.messages) ? send() : undefined)}>
            <TextField
              label="Number of messages"
              name="confirm"
              inputMode="numeric"
              value={typed}
              onChange={setTyped}
            />
            {action.problem && <Problem of={action.problem} />}
            <Buttons>
              <Button type="submit" kind="primary" isBusy={action.isBusy} disabled={!isSame(typed, result.messages)}>
                {label}
              </Button>
              <Button onClick={() => setAsking(false)}>Cancel</Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}

const isSame = (typed: string, count: number): boolean => typed.replace(/[\s,.’']/g, '') === String(count)

/** The reasons of contacts that lack a field, such as “The contact has no city.” */
const tellMissing = (skips: DryRun['skips']): string =>
  [...new Set(skips.filter(({ reason }) => reason === 'missing_variable').map(({ detail }) => detail))]
    .slice(0, 3)
    .map((detail) => detail.replace(/^The contact has/, 'Contacts have'))
    .join(' ')

const tellSkipped = (skipped: Record<string, number>): string =>
  Object.entries(skipped)
    .map(([reason, count]) => `${formatNumber(count)} ${formatCode(reason.replace('recipient_', '')).toLowerCase()}`)
    .join(', ')

function tellWhen({ when, at }: SendDraft): string {
  const time = at.replace('T', ' ')
  if (when === 'now') return 'Now'
  return when === 'at' ? `${time}, your time` : `${time} in each recipient’s time zone`
}
