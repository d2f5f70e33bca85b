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
  const { run, isBusy, problem } = useAction('rotateCallbackSecret', 'There is another callback secret')
  const rotate = async () => {
    const done = await run({})
    if (done) setSecret(done.answer.secret)
    return done
  }
  return (
    <section className="card" aria-label="Callback secret">
      <h2>Callback secret</h2>
      <p className="hint">It signs what is posted to the callback addresses of messages and campaigns.</p>
      {secret !== undefined && (
        <Secrets title="The callback secret" secrets={[['Secret', secret]]} onClose={() => setSecret(undefined)} />
      )}
      <ConfirmButton
        does="rotateCallbackSecret"
        label="Make another callback secret"
        question="Posts to callback addresses are signed with the new one from then on. It is shown once."
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
  const { run, isBusy, problem } = useAction('rotateDataKey', 'There is another data key')
  return (
    <section className="card" aria-label="Encryption">
      <h2>Encryption</h2>
      <Facts
        facts={[
          ['Texts and contacts', content ? 'are encrypted' : 'are not encrypted; the operator says so'],
          [
            'Data key',
            key && (
              <>
                version {key.version}, made <Moment at={key.created_at} />
              </>
            ),
          ],
          ['Keys that still encrypt something', rotation?.retired_keys],
          ['Encrypted again up to', rotation?.done_until && <Moment at={rotation.done_until} />],
        ]}
      />
      <div className="buttons below">
        <ConfirmButton
          does="rotateDataKey"
          label="Make another data key"
          question="New texts are encrypted with it at once, those that are there in the background, some minutes later; then the old key is destroyed."
          onConfirm={() => run({})}
          isBusy={isBusy}
          problem={problem}
          isDanger={false}
        />
      </div>
    </section>
  )
}
