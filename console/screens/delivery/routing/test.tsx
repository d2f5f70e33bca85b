/** Tests the route of a message without sending it. */
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import { Page } from '../../../kit/page.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { typeOf, typeOptions } from '../../../kit/message-types.ts'
import { TestAnswer, type RouteTest } from './test-answer.tsx'

export function RouteTestScreen() {
  const ask = useAction('testRoute')
  const [to, setTo] = useState('')
  const [from, setFrom] = useState('')
  const [type, setType] = useState('')
  const [message, setMessage] = useState('')
  const [account, setAccount] = useState('')
  const [campaign, setCampaign] = useState('')
  const [pool, setPool] = useState('')
  const [answer, setAnswer] = useState<RouteTest>()
  const accounts = useCall('listAccounts', { query: { limit: 100 } }, { isSide: true })
  const pools = useCall('listSenderPools', { query: { limit: 100 } })
  const submit = async () => {
    const kind = typeOf(type)
    const done = await ask.run({
      body: {
        to,
        ...(from !== '' && { from }),
        ...(kind && { type: kind }),
        ...(message !== '' && { message }),
        ...(account !== '' && { account }),
        ...(campaign !== '' && { campaign }),
        ...(pool !== '' && { sender_pool: pool }),
      },
    })
    setAnswer(done?.answer)
  }
  return (
    <Page
      title="Test routing"
      back={{ to: '/routes', title: 'Routes' }}
      lead={
        <>
          See which route and carrier a message would take, with <Link href="/carriers">carriers</Link> as they are now.
          Nothing is sent.
        </>
      }
    >
      <div className="columns">
        <Form does="testRoute" onSubmit={submit} problem={ask.problem}>
          <TextField
            label="To"
            name="to"
            hint="With its country code, such as +447700900123."
            inputMode="tel"
            value={to}
            onChange={setTo}
            autoFocus
          />
          <SelectField
            label="Type"
            name="type"
            value={type}
            onChange={setType}
            options={typeOptions('Campaign default, or transactional')}
          />
          <TextField
            label="From"
            name="from"
            hint="Leave empty for the default of the campaign or account."
            value={from}
            onChange={setFrom}
          />
          <TextArea
            label="Message"
            name="message"
            hint="To count segments. Leave empty for one segment."
            value={message}
            onChange={setMessage}
          />
          <Fold title="Account, campaign and pool">
            <SelectField
              label="Account"
              name="account"
              value={account}
              onChange={setAccount}
              options={[['', 'Yours'], ...(accounts.data?.data.map(({ id, name }) => [id, name] as const) ?? [])]}
            />
            <TextField label="Campaign" name="campaign" hint="Id or key." value={campaign} onChange={setCampaign} />
            <SelectField
              label="Sender pool"
              name="sender_pool"
              value={pool}
              onChange={setPool}
              options={[['', 'None'], ...(pools.data?.data.map(({ id, name }) => [id, name] as const) ?? [])]}
            />
          </Fold>
          <Buttons>
            <Button kind="primary" type="submit" isBusy={ask.isBusy}>
              Run test
            </Button>
          </Buttons>
        </Form>
        <div aria-live="polite">{answer && <TestAnswer of={answer} />}</div>
      </div>
    </Page>
  )
}
