/** The test's result: sender, chain of carriers, and every route with the reason for or against it. */
import type { Operations } from '@heliogram/sdk'
import { Link } from 'wouter'
import { Section } from '../../../kit/page.tsx'
import { Badge, Facts, Money, PhoneNumber, type Tone } from '../../../kit/show.tsx'
import { typeNames } from '../../../kit/message-types.ts'

export type RouteTest = Operations['testRoute']['answer']

const outcomes: Record<RouteTest['outcome'], [title: string, tone: Tone]> = {
  sent: ['Would be sent', 'good'],
  held: ['Would be held', 'warning'],
  refused: ['Would be refused', 'bad'],
}

export function TestAnswer({ of }: { of: RouteTest }) {
  const { outcome, detail, refusal, to, country, type, campaign, segments, sender, chain, rules } = of
  const [title, tone] = outcomes[outcome]
  return (
    <>
      <div className="card">
        <p>
          <Badge status={title} tone={tone} /> {detail}
        </p>
        <div className="gap">
          <Facts
            facts={[
              ['Error', refusal && <code>{refusal}</code>],
              [
                'To',
                <>
                  <PhoneNumber of={to} /> {country === null ? '(unknown country)' : `(${country})`}
                </>,
              ],
              ['Type', typeNames[type]],
              ['Campaign', campaign],
              ['Segments', String(segments)],
              [
                'From',
                <>
                  {sender.number === null ? 'the carrier’s own number' : <PhoneNumber of={sender.number} />}{' '}
                  <span className="small">{sender.detail}</span>
                </>,
              ],
              ...sender.passed_over.map(
                ({ number, detail: why }) =>
                  [
                    'Skipped sender',
                    <>
                      <PhoneNumber of={number} /> <span className="small">{why}</span>
                    </>,
                  ] as const,
              ),
            ]}
          />
        </div>
      </div>
      {chain.length > 0 && (
        <Section title="Carriers, in order">
          <ol className="steps">
            {chain.map(({ carrier, name, weight, cost, links }) => (
              <li
                key={carrier}
                className={links.some(({ state }) => state === 'bound' || state === 'throttled') ? 'good' : 'bad'}
              >
                <Link href={`/carriers/${carrier}`}>{name}</Link>{' '}
                {links.map(({ link, state }) => (
                  <Badge key={link} status={state} />
                ))}{' '}
                <span className="small">
                  {weight !== null && `weight ${weight} `}
                  {cost && <Money of={cost} />}
                </span>
              </li>
            ))}
          </ol>
        </Section>
      )}
      {rules.length > 0 && (
        <Section title="Routes checked">
          <ol className="steps">
            {rules.map(({ route, position, name, matched, taken, detail: why }) => (
              <li key={route} className={taken ? 'good' : matched ? 'warning' : ''}>
                <Link href={`/routes/${route}`}>
                  {position}. {name ?? 'Unnamed route'}
                </Link>{' '}
                {taken && <Badge status="matched" tone="good" />} <span className="small">{why}</span>
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  )
}
