/** The test's result: sender, chain of carriers, and every route with the reason for or against it. */
import type { Operations } from '@heliogram/sdk'
import { Link } from 'wouter'
import { Section } from '../../../kit/page.tsx'
import { Badge, Facts, Money, PhoneNumber, type Tone } from '../../../kit/show.tsx'
import { typeNames } from '../../../kit/message-types.ts'

export type RouteTest = Operations['testRoute']['answer']

const tones: Record<RouteTest['outcome'], Tone> = { sent: 'good', held: 'warning', refused: 'bad' }

export function TestAnswer({ of }: { of: RouteTest }) {
  const { outcome, detail, refusal, to, country, type, campaign, segments, sender, chain, rules } = of
  return (
    <>
      <div className="card">
        <p>
          <Badge status={outcome} tone={tones[outcome]} /> {detail}
        </p>
        <div className="gap">
          <Facts
            facts={[
              ['Refused with', refusal && <code>{refusal}</code>],
              [
                'To',
                <>
                  <PhoneNumber of={to} /> {country === null ? 'of no country' : `(${country})`}
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
                    'Passed over',
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
        <Section title="Tried in this order">
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
        <Section title="The routes, one by one">
          <ol className="steps">
            {rules.map(({ route, position, name, matched, taken, detail: why }) => (
              <li key={route} className={taken ? 'good' : matched ? 'warning' : ''}>
                <Link href={`/routes/${route}`}>
                  {position}. {name ?? 'without a name'}
                </Link>{' '}
                {taken && <Badge status="taken" tone="good" />} <span className="small">{why}</span>
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  )
}
