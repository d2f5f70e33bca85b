import { HeliogramError, type Operations } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Phone, Ruler } from '../../../compose/ruler.tsx'
import { measure } from '../../../compose/text.ts'
import { useDebounced } from '../../../kit/debounced.ts'
import { Allowed } from '../../../kit/may.tsx'
import { tellNumber } from '../../../kit/number.ts'
import { nameOf, Problem } from '../../../kit/problem.tsx'
import { Money } from '../../../kit/show.tsx'
import { previewOf, type Draft } from './draft.ts'

type Answer = Operations['previewMessage']['answer']

/** The text shows at once; what only the API knows follows. */
export function Preview({ draft }: { draft: Draft }) {
  const settled = useDebounced(draft)
  const isBlank = settled.template === '' && settled.message === ''
  const { data, error } = useCall('previewMessage', { body: previewOf(settled) }, { enabled: !isBlank })
  const isCurrent = settled === draft
  const served = isBlank || error ? undefined : data
  const text = isCurrent && served ? served.message : draft.template === '' ? draft.message : (served?.message ?? '')
  return (
    <section className="card preview" aria-label="Preview">
      <h2>Preview</h2>
      {text === '' ? (
        !error && <p className="hint">Your text appears here as the recipient sees it.</p>
      ) : (
        <>
          <Phone from={senderOf(served)} text={text} />
          <Ruler of={measure(text, draft.encoding === 'ucs2' ? 'ucs2' : 'auto')} />
        </>
      )}
      {error && !isBlank && <Refusal of={error} />}
      {served && <Costs of={served} />}
    </section>
  )
}

const senderOf = (preview: Answer | undefined): string =>
  preview?.from ? tellNumber(preview.from) : preview?.to ? 'The carrier’s own sender' : 'Sender'

/** Mostly a field that is still empty. */
function Refusal({ of }: { of: Error }) {
  if (!(of instanceof HeliogramError) || of.errors.length === 0) return <Problem of={of} />
  return (
    <ul className="warnings">
      {of.errors.map(({ pointer, detail, suggestion }) => (
        <li key={pointer} className="small">
          <strong>{nameOf(pointer).replace(/^variables\//, '')}</strong> {detail} {suggestion}
        </li>
      ))}
    </ul>
  )
}

/** The ruler and the field say the same. */
const shownElsewhere = new Set(['ucs2_due_to_character', 'multi_segment'])

function Costs({ of: { warnings, opted_out: isOut, estimated_price: price, routes, to } }: { of: Answer }) {
  const [first] = routes ?? []
  const others = warnings.filter(({ code }) => !shownElsewhere.has(code))
  return (
    <>
      {isOut && (
        <p className="problem" role="status">
          This recipient has opted out, so the message would be refused.{' '}
          {to && <Link href={`/opt-outs/${to}`}>See the opt-out</Link>}
        </p>
      )}
      {routes?.length === 0 && (
        <p className="problem" role="status">
          No carrier takes messages to this number.
        </p>
      )}
      {first && (
        <p className="cost">
          {price ? (
            <>
              Estimated price <Money of={price} />
            </>
          ) : (
            <>
              No price known.{' '}
              <Allowed to="replaceRates">
                <Link href={`/carriers/${first.carrier}/rates`}>Add a rate card</Link>
              </Allowed>
            </>
          )}
        </p>
      )}
      {others.length > 0 && (
        <ul className="warnings">
          {others.map(({ code, detail }) => (
            <li key={code} className="small">
              {detail}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
