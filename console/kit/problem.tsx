/** What went wrong, in the API's own words, with where to read on. */
import { HeliogramError } from '@heliogram/sdk'

/** Whether there was no answer at all: the installation is away, or the way to it. */
export const isAway = (error: Error | null): boolean =>
  error instanceof HeliogramError && ['unreachable', 'timeout'].includes(error.code)

const nowhere: ReadonlySet<string> = new Set()

/** The name of the field that a fault points to (RFC 6901): `to`, `match/countries`. */
export const nameOf = (pointer: string): string => pointer.replace(/^#?\//, '')

/** Whether a field shows a fault: its own, or that of something in it. */
const isShown = (name: string, fields: ReadonlySet<string>): boolean =>
  [...fields].some((field) => name === field || name.startsWith(`${field}/`))

/** `shownElsewhere`: names of fields that show their faults themselves. */
export function Problem({ of, shownElsewhere = nowhere }: { of: Error; shownElsewhere?: ReadonlySet<string> }) {
  if (!(of instanceof HeliogramError))
    return (
      <div className="problem" role="alert">
        {of.message}
      </div>
    )
  const { title, detail, code, requestId } = of
  // Who looks knows of roles, and not of tokens and their scopes.
  const isRole = code === 'insufficient_scope'
  const errors = of.errors.filter(({ pointer }) => !isShown(nameOf(pointer), shownElsewhere))
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{isRole ? 'Your role does not allow this.' : title}</strong>
        {isRole ? ' Somebody who may change people can give you another.' : detail !== title && ` ${detail}`}
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ pointer, detail: fault, suggestion }, n) => (
            <li key={n}>
              <code>{nameOf(pointer)}</code> {fault} {suggestion}
            </li>
          ))}
        </ul>
      )}
      <p className="small">
        {/* Without an answer of the API the code is the SDK's. */}
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
      </p>
    </div>
  )
}
