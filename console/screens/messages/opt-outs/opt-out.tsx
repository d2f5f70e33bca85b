import { HeliogramError, type OptOut } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { tellNumber } from '../../../kit/number.ts'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Badge, Facts, Moment } from '../../../kit/show.tsx'
import { AddOptOut } from './add.tsx'
import { ConsentLedger } from './consent.tsx'
import { ForgetButton, LetInButton } from './change.tsx'
import { tellSource } from './source.ts'

export function OptOutScreen() {
  const { number = '' } = useParams()
  return <OneNumber key={number} number={number} />
}

function OneNumber({ number }: { number: string }) {
  const [isAdding, setAdding] = useState(false)
  const call = useCall('getOptOut', { path: { number } })
  const isIn = call.error instanceof HeliogramError && call.error.status === 404
  const isOut = !isIn && call.data !== undefined
  return (
    <Page
      title={tellNumber(number)}
      back={{ to: '/opt-outs', title: 'Opt-outs' }}
      lead={
        <>
          {isOut && (
            <>
              <Badge status="opted out" tone="bad" /> This number gets no messages.
            </>
          )}
          {isIn && (
            <>
              <Badge status="not opted out" tone="good" /> This number can get messages.
            </>
          )}
        </>
      }
      actions={
        <>
          <LinkButton to={`/messages?to=${number}`}>Messages</LinkButton>
          <LinkButton to={`/conversations?search=${number}&state=all`} does="replyInConversation">
            Conversations
          </LinkButton>
          {isOut && <LetInButton number={number} />}
          {isOut && <ForgetButton number={number} />}
          {isIn && (
            <Button does="createOptOut" kind="danger" onClick={() => setAdding(true)}>
              Add opt-out
            </Button>
          )}
        </>
      }
    >
      {!isIn && <Loaded call={call}>{(optOut) => <OptOutFacts of={optOut} />}</Loaded>}
      <ConsentLedger number={number} />
      {isAdding && <AddOptOut number={number} onClose={() => setAdding(false)} />}
    </Page>
  )
}

function OptOutFacts({ of: { source, reason, message, created_at: since } }: { of: OptOut }) {
  return (
    <Facts
      facts={[
        ['Since', <Moment key="since" at={since} />],
        ['Source', tellSource(source)],
        ['Reason', reason],
        ['Reply', message && <Link href={`/messages/${message}`}>View reply</Link>],
      ]}
    />
  )
}
