import type { OperationRequest, SenderPool } from '@heliogram/sdk'
import { useState } from 'react'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Loaded } from '../../../kit/page.tsx'
import { numberFrom } from '../../../kit/typed.ts'

export const strategyNames: Record<SenderPool['strategy'], string> = {
  sticky: 'Same sender for each person',
  round_robin: 'Next sender for each message',
}

interface PoolFormProps {
  pool: SenderPool | null
  problem: Error | null
  isBusy: boolean
  onSubmit: (body: OperationRequest<'createSenderPool'>['body']) => Promise<void>
}

export function PoolForm({ pool, problem, isBusy, onSubmit }: PoolFormProps) {
  const senders = useCall('listSenders', { query: { limit: 200 } })
  // A number may be at several carriers. Without access to carriers it is listed twice.
  const carriers = useCall('listCarriers', {}, { isSide: true })
  const nameOf = (carrier: string) => {
    const name = carriers.data?.data.find(({ id }) => id === carrier)?.name
    return name && `at ${name}`
  }
  const [name, setName] = useState(pool?.name ?? '')
  const [strategy, setStrategy] = useState<SenderPool['strategy']>(pool?.strategy ?? 'sticky')
  // Weights of the pool's members.
  const [weights, setWeights] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries((pool?.senders ?? []).map(({ sender, weight }) => [sender, String(weight)])),
  )
  const put = (id: string, weight: string | null) =>
    setWeights((now) => {
      const others = Object.fromEntries(Object.entries(now).filter(([other]) => other !== id))
      return weight === null ? others : { ...now, [id]: weight }
    })
  const submit = () =>
    onSubmit({
      name,
      strategy,
      senders: Object.entries(weights).map(([sender, weight]) => ({ sender, weight: numberFrom(weight) })),
    })
  return (
    <div className="narrow">
      <Form does={pool ? 'updateSenderPool' : 'createSenderPool'} onSubmit={submit} problem={problem}>
        <div className="fields">
          <TextField label="Name" name="name" hint="For your team." value={name} onChange={setName} />
          <SelectField
            label="Strategy"
            name="strategy"
            hint={
              strategy === 'sticky'
                ? 'For 90 days after the last message.'
                : 'A person may get messages from several senders.'
            }
            value={strategy}
            onChange={(value) => setStrategy(value === 'sticky' ? 'sticky' : 'round_robin')}
            options={Object.entries(strategyNames)}
          />
        </div>
        <fieldset className="group">
          <legend>Senders</legend>
          <Loaded call={senders}>
            {({ data, has_more }) => (
              <>
                {data.map(({ id, number, country, carrier }) => (
                  <div className="pool-row" key={id}>
                    <CheckField
                      label={[number, country && `(${country})`, nameOf(carrier)].filter(Boolean).join(' ')}
                      name={`senders/${id}`}
                      value={id in weights}
                      onChange={(isIn) => put(id, isIn ? '1' : null)}
                    />
                    {id in weights && (
                      <label className="weight">
                        Weight{' '}
                        <input
                          value={weights[id]}
                          inputMode="numeric"
                          onChange={(event) => put(id, event.target.value)}
                        />
                      </label>
                    )}
                  </div>
                ))}
                {data.length === 0 && <p className="hint">Your account has no senders yet. Add senders first.</p>}
                {has_more && <p className="hint">Only the newest 200 senders are shown. Add others with the API.</p>}
              </>
            )}
          </Loaded>
          <p className="hint">
            Senders from the recipient’s country are used first. A sender with weight 2 gets twice as many messages as
            one with weight 1.
          </p>
        </fieldset>
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {pool ? 'Save pool' : 'Add pool'}
          </Button>
          <LinkButton to="/senders/pools">Cancel</LinkButton>
        </Buttons>
      </Form>
    </div>
  )
}
