/** What went wrong, in the API's own words, with where to read on. */
import { HeliogramError } from '@heliogram/sdk'

export function Problem({ of }: { of: Error }) {
  if (!(of instanceof HeliogramError))
    return (
      <div className="problem" role="alert">
        {of.message}
      </div>
    )
  const { title, detail, code, errors, requestId } = of
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{title}</strong>
        {detail && detail !== title && <> {detail}</>}
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ pointer, detail: fault, suggestion }, n) => (
            <li key={n}>
              <code>{pointer}</code> {fault} {suggestion}
            </li>
          ))}
        </ul>
      )}
      <p className="small">
        <a href={`/docs/errors#${code}`} target="_blank" rel="noreferrer">
          {code}
        </a>
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
