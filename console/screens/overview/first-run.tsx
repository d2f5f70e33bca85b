/** The first steps of an account. Each ticks itself, and stays ticked in this browser. */
import type { Summary } from '@heliogram/sdk'
import { useEffect, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { useMay } from '../../kit/may.tsx'
import { Section } from '../../kit/page.tsx'
import { useLogin } from '../../session/login.ts'
import { ReceivedPosts, useReceiver } from './receiver.tsx'

interface Step {
  name: string
  title: string
  isDone: boolean
  children: ReactNode
}

function FirstRun({ summary }: { summary: Summary }) {
  const key = `heliogram.first-run.${useLogin()?.user.id}`
  const [kept, setKept] = useState(() => read(key))
  const may = { send: useMay('sendMessage'), receive: useMay('createWebhook'), connect: useMay('createCarrier') }
  const isShown = may.send && !kept.includes('hidden')
  const posts = useReceiver(isShown && may.receive)
  const optOuts = useCall('listOptOuts', { query: { limit: 1 } }, { isSide: true, enabled: isShown, every: 60_000 })
  const carriers = useCall('listCarriers', {}, { isSide: true, enabled: isShown && may.connect })
  const { today } = summary
  const steps: Step[] = [
    {
      name: 'send',
      title: 'Send a message',
      isDone: today.messages > 0,
      children: (
        <>
          <Link href="/messages/new">New message</Link> to any number, such as +12025550123. The simulated carrier takes
          it: nothing reaches a real phone.
        </>
      ),
    },
    {
      name: 'delivered',
      title: 'See it delivered',
      isDone: today.delivered > 0,
      children: (
        <>
          It appears at its{' '}
          <a href="/phones" target="_blank" rel="noreferrer">
            simulated phone
          </a>
          , and as delivered in <Link href="/messages">Messages</Link>.
        </>
      ),
    },
    ...(may.receive
      ? [
          {
            name: 'webhook',
            title: 'Receive a webhook here',
            isDone: (posts.data?.posts.length ?? 0) > 0,
            children: <ReceivedPosts call={posts} />,
          },
        ]
      : []),
    {
      name: 'reply',
      title: 'Reply from the phone',
      isDone: today.replies > 0,
      children: (
        <>
          Answer at the{' '}
          <a href="/phones" target="_blank" rel="noreferrer">
            simulated phone
          </a>
          . Replies are in the <Link href="/conversations">Inbox</Link>.
        </>
      ),
    },
    {
      name: 'stop',
      title: 'Reply STOP',
      isDone: (optOuts.data?.data.length ?? 0) > 0,
      children: (
        <>
          Answer STOP at the{' '}
          <a href="/phones" target="_blank" rel="noreferrer">
            simulated phone
          </a>
          . The person is then in <Link href="/opt-outs">Opt-outs</Link>, and the next message to them is refused.
        </>
      ),
    },
    ...(may.connect
      ? [
          {
            name: 'carrier',
            title: 'Connect a carrier',
            isDone: carriers.data?.data.some(({ kind }) => kind !== 'simulator') === true,
            children: (
              <>
                <Link href="/carriers/new">Add a carrier</Link> to reach real phones, over SMPP or HTTP.
              </>
            ),
          },
        ]
      : []),
  ]
  const keep = (names: readonly string[]) => {
    setKept(names)
    write(key, names)
  }
  const fresh = steps.filter(({ name, isDone }) => isDone && !kept.includes(name)).map(({ name }) => name)
  const ticked = fresh.join()
  useEffect(() => {
    if (isShown && ticked !== '') keep([...kept, ...ticked.split(',')])
  })
  const done = steps.filter(({ name, isDone }) => isDone || kept.includes(name))
  const [next] = steps.filter((step) => !done.includes(step))
  if (!isShown) return null
  return (
    <div className="first-run">
      <Section
        title={next ? 'Get started' : 'You’re all set'}
        note={`${done.length} of ${steps.length} done`}
        actions={
          <Button kind="quiet" onClick={() => keep([...kept, 'hidden'])}>
            Hide
          </Button>
        }
      >
        {next && (
          <ol>
            {steps.map((step) => (
              <li key={step.name} className={done.includes(step) ? 'done' : undefined}>
                <details open={step === next || step.name === 'webhook' ? true : undefined}>
                  <summary>
                    <i aria-hidden="true">{done.includes(step) ? '✓' : ''}</i> {step.title}
                    {done.includes(step) && <span className="unseen"> (done)</span>}
                  </summary>
                  <div>{step.children}</div>
                </details>
              </li>
            ))}
          </ol>
        )}
      </Section>
    </div>
  )
}

function read(key: string): readonly string[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]') as string[]
  } catch {
    return []
  }
}

function write(key: string, names: readonly string[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(names))
  } catch {
    // Only the ticks are lost.
  }
}

export default FirstRun
