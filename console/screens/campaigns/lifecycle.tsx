import { useAction } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { ConfirmButton } from '../../kit/dialog.tsx'
import { useMay } from '../../kit/may.tsx'
import { Problem } from '../../kit/problem.tsx'
import { isUnderWay } from './states.ts'

export function Lifecycle({ campaign, status }: { campaign: string; status: string }) {
  const pause = useAction('pauseCampaign', 'Paused. Nothing more goes to a carrier.')
  const resume = useAction('resumeCampaign', 'It continues from where it was.')
  const cancel = useAction('cancelCampaign', 'Canceled. The campaign is closed.')
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
      <ConfirmButton
        does="cancelCampaign"
        label="Cancel the broadcast"
        question="Messages that wait are canceled; what a carrier has stays sent. The campaign is closed: it takes no more messages and contacts."
        onConfirm={() => cancel.run(request)}
        isBusy={cancel.isBusy}
        problem={cancel.problem}
      />
    </>
  )
}
