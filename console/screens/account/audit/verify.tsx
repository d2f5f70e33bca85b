/** Verifies the log's hash chain, which shows whether it was changed. */
import { useState } from 'react'
import { useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Loaded } from '../../../kit/page.tsx'
import { Badge, Copy, Facts, formatNumber } from '../../../kit/show.tsx'

const reasons = {
  missing: 'it is missing',
  changed: 'it was changed',
  unlinked: 'it follows another event than the one before it',
}

export function VerifyButton() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button does="verifyAuditEvents" onClick={() => setOpen(true)}>
        Verify the chain
      </Button>
      {isOpen && (
        <Dialog title="Has anybody changed it?" onClose={() => setOpen(false)}>
          <Verification />
        </Dialog>
      )}
    </>
  )
}

function Verification() {
  const verification = useCall('verifyAuditEvents', {})
  return (
    <Loaded call={verification}>
      {({ valid, events, head, broken_at, pruned }) => (
        <div className="form">
          <p>
            {valid ? (
              <>
                <Badge status="whole" tone="good" /> Each of {formatNumber(events)} events fits the one before it.
              </>
            ) : (
              <>
                <Badge status="broken" tone="bad" /> The chain is broken at number {broken_at?.seq}
                {broken_at && `: ${reasons[broken_at.reason]}`}.
              </>
            )}
          </p>
          <Facts
            facts={[
              ['Hash of the last', head && <Copy key="head" text={head} />],
              ['First that does not fit', broken_at?.event],
              ['Went by age', pruned && `up to number ${pruned.seq}`],
            ]}
          />
          <p className="hint">
            Keep the hash elsewhere, say once a day: it proves later that nothing before it was changed, not even by
            somebody who could rewrite the whole log.
          </p>
        </div>
      )}
    </Loaded>
  )
}
