/** JSON as people read it, to copy or to select. */
import { useState } from 'react'
import { Button } from './button.tsx'

export function Json({ of, label }: { of: unknown; label: string }) {
  const [isCopied, setCopied] = useState(false)
  const text = JSON.stringify(of, null, 2)
  const copy = async () => {
    await navigator.clipboard?.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <div className="json">
      {'clipboard' in navigator && (
        <Button kind="quiet" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      )}
      <pre aria-label={label} tabIndex={0}>
        {text}
      </pre>
    </div>
  )
}
