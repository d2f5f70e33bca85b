/** Errors in the API's words, with a link to the manual. */
import { HeliogramError } from '@heliogram/sdk'

/** No response: the installation is down or unreachable. */
export const isAway = (error: Error | null): boolean =>
  error instanceof HeliogramError && ['unreachable', 'timeout'].includes(error.code)

const nowhere: ReadonlySet<string> = new Set()

/** The field of a fault's pointer (RFC 6901): `to`, `match/countries`. */
export const nameOf = (pointer: string): string => pointer.replace(/^#?\//, '')

const isShown = (name: string, fields: ReadonlySet<string>): boolean =>
  [...fields].some((field) => name === field || name.startsWith(`${field}/`))

/** `shownElsewhere`: fields that show their own faults. */
export function Problem({ of, shownElsewhere = nowhere }: { of: Error; shownElsewhere?: ReadonlySet<string> }) {
  if (!(of instanceof HeliogramError))
    return (
      <div className="problem" role="alert">
        {of.message}
      </div>
    )
  const { title, detail, code, requestId } = of
  const errors = of.errors.filter(({ pointer }) => !isShown(nameOf(pointer), shownElsewhere))
  return (
    <div className="problem" role="alert">
      <p>{sentenceOf(of, errors.length)}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ pointer, detail: fault, suggestion }, n) => (
            <li key={n}>
              <code>{nameOf(pointer)}</code> {fault} {suggestion}
            </li>
          ))}
        </ul>
      )}
      <details className="small">
        <summary>Details</summary>
        {title !== detail && `${title}: `}
        {/* Without a response of the API the code is the SDK's. */}
        {of.problem ? (
          <a href={`/docs/errors/${code}`} target="_blank" rel="noreferrer">
            {code}
          </a>
        ) : (
          code
        )}
        {requestId && (
          <>
            {' · request '}
            <code>{requestId}</code>
          </>
        )}
      </details>
    </div>
  )
}

function sentenceOf({ code, detail, errors }: HeliogramError, shown: number): string {
  // Users know roles, not tokens and scopes.
  if (code === 'insufficient_scope')
    return 'Your role does not allow this. Ask somebody who manages people for another role.'
  if (errors.length === 0) return detail
  if (shown > 0) return 'Some values are not valid:'
  return errors.length === 1 ? 'Check the marked field.' : 'Check the marked fields.'
}
