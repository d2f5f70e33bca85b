/** Work that no action stands for: what changes nothing, downloads, logins. */
import type { OperationName } from '@heliogram/sdk'
import { useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Problem } from './problem.tsx'

interface Task {
  /** Resolves to whether it was done; why not is `problem`. */
  run: () => Promise<boolean>
  isBusy: boolean
  /** Why the last try failed; it stays until another has ended. */
  problem: Error | null
  reset: () => void
}

/** Something that is done when somebody says so, and may fail. */
export function useTask(work: () => Promise<unknown>): Task {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Error | null>(null)
  const run = async () => {
    setBusy(true)
    try {
      await work()
      setProblem(null)
      return true
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { run, isBusy, problem, reset: () => setProblem(null) }
}

interface DownloadProps {
  /** What is called: the button is there for who may do that. */
  does: OperationName
  label: string
  onDownload: () => Promise<void>
}

/** A button that saves a file; why it could not stands in front of the page. */
export function DownloadButton({ does, label, onDownload }: DownloadProps) {
  const { run, isBusy, problem, reset } = useTask(onDownload)
  return (
    <>
      <Button does={does} isBusy={isBusy} onClick={() => void run()}>
        {label}
      </Button>
      {problem && (
        <Dialog title={`${label}: it failed`} onClose={reset}>
          <Problem of={problem} />
        </Dialog>
      )}
    </>
  )
}
