import { CopyButton } from './show.tsx'

export function Json({ of, label }: { of: unknown; label: string }) {
  const text = JSON.stringify(of, null, 2)
  return (
    <div className="json">
      <CopyButton text={text} about={label} />
      <pre aria-label={label} tabIndex={0}>
        {text}
      </pre>
    </div>
  )
}
