import { HeliogramError, type Operations } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { useDebounced } from '../../../kit/debounced.ts'
import { Problem } from '../../../kit/problem.tsx'
import { Facts, formatNumber, Money } from '../../../kit/show.tsx'
import { lookOf, recipientOf, variablesOf, type Draft } from './draft.ts'

export function Preview({ draft }: { draft: Draft }) {
  const settled = useDebounced(draft)
  const isText = settled.template === ''
  const to = recipientOf(settled)
  const common = { ...lookOf(settled), ...(to !== undefined && { to }) }
  const ofText = useCall(
    'previewMessage',
    {
      body: {
        ...common,
        message: settled.message,
        ...(settled.shortenUrls && { shorten_urls: settled.shortenUrls === 'yes' }),
      },
    },
    { enabled: isText && settled.message !== '' },
  )
  const ofTemplate = useCall(
    'previewTemplate',
    {
      path: { template: settled.template || '-' },
      body: { ...common, variables: variablesOf(settled), ...(settled.language && { language: settled.language }) },
    },
    { enabled: !isText },
  )
  const call = isText ? ofText : ofTemplate
  const isBlank = isText && settled.message === ''
  return (
    <section className="card preview" aria-label="Preview">
      <h2>Preview</h2>
      {isBlank ? (
        <p className="hint">What the recipient gets appears here as you write.</p>
      ) : call.error ? (
        <Refusal of={call.error} />
      ) : (
        call.data && <Look of={call.data} />
      )}
    </section>
  )
}

/** Mostly a field that is still empty. */
function Refusal({ of }: { of: Error }) {
  if (!(of instanceof HeliogramError) || of.errors.length === 0) return <Problem of={of} />
  return (
    <ul className="warnings">
      {of.errors.map(({ pointer, detail }) => (
        <li key={pointer} className="small">
          <strong>{pointer.replace(/^#\/(variables\/)?/, '')}</strong> {detail}
        </li>
      ))}
    </ul>
  )
}

function Look({ of: preview }: { of: Operations['previewMessage']['answer'] }) {
  const {
    parts,
    encoding,
    segments,
    characters,
    warnings,
    opted_out: isOut,
    estimated_price: price,
    routes,
    to,
  } = preview
  return (
    <>
      {isOut && (
        <p className="problem" role="status">
          The recipient has opted out: the message would be refused.{' '}
          {to && <Link href={`/opt-outs/${to}`}>How they did</Link>}
        </p>
      )}
      <ol className="segments" aria-label="Segments">
        {parts.map(({ text, characters: length }, n) => (
          <li key={n} className="bubble outbound">
            <span className="text">{text}</span>
            {parts.length > 1 && <span className="small">{length}</span>}
          </li>
        ))}
      </ol>
      <Facts
        facts={[
          ['Segments', <strong key="n">{formatNumber(segments)}</strong>],
          ['Encoding', encoding],
          ['Characters', formatNumber(characters)],
          ['Estimated price', routes && (price ? <Money of={price} /> : 'not known: the carrier has no rate card')],
          ['Route', routes?.length === 0 && 'none: no carrier takes messages to this number'],
        ]}
      />
      {warnings.length > 0 && (
        <ul className="warnings">
          {warnings.map(({ code, detail, characters: culprits = [] }) => (
            <li key={code} className="small">
              {detail}{' '}
              {[...count(culprits)].map(([culprit, times]) => (
                <span key={culprit} className="tag">
                  {culprit}
                  {times > 1 && ` × ${times}`}
                </span>
              ))}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Distinct characters with their counts. */
function count(characters: readonly { character: string; code_point: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { character, code_point: codePoint } of characters) {
    const name = `${character} ${codePoint}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
