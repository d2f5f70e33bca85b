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
              <Badge status="out" tone="bad" /> Nothing is sent to this number.
            </>
          )}
          {isIn && (
            <>
              <Badge status="not out" tone="good" /> Messages are sent to this number.
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
              Opt it out
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
        ['How', tellSource(source)],
        ['Reason', reason],
        ['The reply', message && <Link href={`/messages/${message}`}>what they wrote</Link>],
      ]}
    />
  )
}
