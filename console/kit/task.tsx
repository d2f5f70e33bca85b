/** Work without an action: reads, downloads, logins. */
import type { OperationName } from '@heliogram/sdk'
import { useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Problem } from './problem.tsx'

interface Task {
  /** Resolves to whether it succeeded; see `problem`. */
  run: () => Promise<boolean>
  isBusy: boolean
  /** The failure of the last try, until the next one ends. */
  problem: Error | null
  reset: () => void
}

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
  /** Shown if the login may call this operation. */
  does: OperationName
  label: string
  onDownload: () => Promise<void>
}

/** A failed download is reported in a dialog. */
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
