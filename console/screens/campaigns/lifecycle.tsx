import type { ReactNode } from 'react'
import { useAction } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { ConfirmButton } from '../../kit/dialog.tsx'
import { useMay } from '../../kit/may.tsx'
import { Problem } from '../../kit/problem.tsx'
import { isUnderWay } from './states.ts'

interface LifecycleProps {
  campaign: string
  status: string
  /** Instead of the button that stops it and closes the campaign. */
  stop?: ReactNode
}

export function Lifecycle({ campaign, status, stop }: LifecycleProps) {
  const pause = useAction('pauseCampaign', 'Broadcast paused.')
  const resume = useAction('resumeCampaign', 'Broadcast resumed.')
  const cancel = useAction('cancelCampaign', 'Broadcast stopped. The campaign is closed.')
  const request = { path: { campaign } }
  const problem = pause.problem ?? resume.problem
  const may = useMay('pauseCampaign')
  if (!may || !isUnderWay(status)) return null
  return (
    <>
      {problem && <Problem of={problem} />}
      {(status === 'sending' || status === 'scheduled') && (
        <Button does="pauseCampaign" isBusy={pause.isBusy} onClick={() => void pause.run(request)}>
          Pause
        </Button>
      )}
      {status === 'paused' && (
        <Button does="resumeCampaign" kind="primary" isBusy={resume.isBusy} onClick={() => void resume.run(request)}>
          Resume
        </Button>
      )}
      {stop || (
        <ConfirmButton
          does="cancelCampaign"
          label="Stop broadcast"
          question="Queued messages are canceled. Messages that a carrier already has can’t be recalled. The campaign closes: it accepts no more contacts or messages. To stop for a while, pause the broadcast instead."
          onConfirm={() => cancel.run(request)}
          isBusy={cancel.isBusy}
          problem={cancel.problem}
        />
      )}
    </>
  )
}
