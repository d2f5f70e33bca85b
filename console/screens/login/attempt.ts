/** One try after the other of something that may fail. */
import { useState } from 'react'

export function useAttempt(work: () => Promise<unknown>): {
  attempt: () => Promise<void>
  isBusy: boolean
  problem: Error | null
} {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Error | null>(null)
  const attempt = async () => {
    setBusy(true)
    try {
      await work()
      setProblem(null)
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)))
    } finally {
      setBusy(false)
    }
  }
  return { attempt, isBusy, problem }
}
