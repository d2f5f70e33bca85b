import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Secrets } from '../../../kit/secret.tsx'
import { Facts, Moment } from '../../../kit/show.tsx'
import type { Settings } from './group.tsx'

export const KeysGroup = ({ of }: { of: Settings }) => (
  <>
    <CallbackSecret />
    <DataKey of={of} />
  </>
)

function CallbackSecret() {
  const [secret, setSecret] = useState<string>()
  const { run, isBusy, problem } = useAction('rotateCallbackSecret', 'Callback secret rotated')
  const rotate = async () => {
    const done = await run({})
    if (done) setSecret(done.answer.secret)
    return done
  }
  return (
    <section className="card" aria-label="Callback secret" id="callback-secret">
      <h2>Callback secret</h2>
      <p className="hint">Signs requests to the callback URLs of messages and campaigns.</p>
      {secret !== undefined && (
        <Secrets title="New callback secret" secrets={[['Secret', secret]]} onClose={() => setSecret(undefined)} />
      )}
      <ConfirmButton
        does="rotateCallbackSecret"
        label="Rotate callback secret"
        question="Requests are signed with the new secret at once. It is shown only once."
        onConfirm={rotate}
        isBusy={isBusy}
        problem={problem}
        isDanger={false}
      />
    </section>
  )
}

function DataKey({ of: { encryption } }: { of: Settings }) {
  const { content, key, rotation } = encryption
  const { run, isBusy, problem } = useAction('rotateDataKey', 'Data key rotated')
  return (
    <section className="card" aria-label="Encryption" id="encryption">
      <h2>Encryption</h2>
      <Facts
        facts={[
          ['Texts and contacts', content ? 'encrypted' : 'not encrypted (set by the operator)'],
          [
            'Data key',
            key && (
              <>
                version {key.version}, created <Moment at={key.created_at} />
              </>
            ),
          ],
          ['Older keys in use', rotation?.retired_keys],
          ['Re-encrypted up to', rotation?.done_until && <Moment at={rotation.done_until} />],
        ]}
      />
      <div className="buttons below">
        <ConfirmButton
          does="rotateDataKey"
          label="Rotate data key"
          question="New texts use the new key at once. Existing texts are re-encrypted in the background, then the old key is destroyed."
          onConfirm={() => run({})}
          isBusy={isBusy}
          problem={problem}
          isDanger={false}
        />
      </div>
    </section>
  )
}
