import { HeliogramError } from '@heliogram/sdk'
import { useEffect } from 'react'
import { useAction } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { toast } from '../../kit/toast.tsx'

export function Redeliver({ event, kind = 'plain' }: { event: string; kind?: 'plain' | 'quiet' }) {
  const { run, isBusy, problem } = useAction('redeliverEvent')
  useEffect(() => {
    if (problem) toast(problem instanceof HeliogramError ? problem.detail : problem.message, { isError: true })
  }, [problem])
  const redeliver = async () => {
    const done = await run({ path: { id: event } })
    if (done === undefined) return
    if (done.answer.posts === 0) toast('Not sent: no enabled webhook subscribes to this event type', { isError: true })
    else toast(done.answer.posts === 1 ? 'Event sent again' : `Event sent again to ${done.answer.posts} addresses`)
  }
  return (
    <Button does="redeliverEvent" kind={kind} isBusy={isBusy} onClick={() => void redeliver()}>
      Redeliver
    </Button>
  )
}
