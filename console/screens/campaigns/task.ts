/** Something that is done when somebody says so, and is no operation by itself: a download. */
import { useState } from 'react'

export interface Task {
  /** Resolves to whether it was done. */
  run: () => Promise<boolean>
  isBusy: boolean
  problem: Error | null
}

export function useTask(work: () => Promise<unknown>): Task {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Error | null>(null)
  const run = async () => {
    setBusy(true)
    setProblem(null)
    try {
      await work()
      return true
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { run, isBusy, problem }
}
