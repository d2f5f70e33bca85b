/** Work that is no operation of JSON: downloads and uploads. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Problem } from './problem.tsx'

/** A button that saves a file; why it could not stands in front of the page. */
export function DownloadButton({ label, onDownload }: { label: string; onDownload: () => Promise<void> }) {
  const [problem, setProblem] = useState<Error | null>(null)
  const { mutate, isPending } = useMutation({ mutationFn: onDownload, onError: setProblem })
  return (
    <>
      <Button isBusy={isPending} onClick={() => mutate()}>
        {label}
      </Button>
      {problem && (
        <Dialog title={`${label}: it failed`} onClose={() => setProblem(null)}>
          <Problem of={problem} />
        </Dialog>
      )}
    </>
  )
}
