/** Actions on marked messages, each for those that allow it. */
import { HeliogramError, newIdempotencyKey, type Message } from '@heliogram/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { heliogram, saveFile } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { tellCount } from '../../../kit/show.tsx'
import { toast } from '../../../kit/toast.tsx'
import { canCancel, canRedact, canResend } from '../status.ts'

type Name = 'cancelMessage' | 'resendMessage' | 'redactMessage'

/** Calls at once: a login may send so many requests a second. */
const width = 4

interface BulkProps {
  marked: readonly Message[]
  unmark: () => void
}

export const BulkActions = ({ marked, unmark }: BulkProps) => (
  <>
    <Bulk
      name="resendMessage"
      verb="Resend"
      past="queued again"
      marked={marked.filter(canResend)}
      unmark={unmark}
      question="The recipients may already have these messages and could get them twice."
    />
    <Bulk
      name="cancelMessage"
      verb="Cancel"
      past="canceled"
      marked={marked.filter(canCancel)}
      unmark={unmark}
      question="These messages will not be sent. You cannot undo this."
    />
    <Bulk
      name="redactMessage"
      verb="Redact"
      past="redacted"
      marked={marked.filter(canRedact)}
      unmark={unmark}
      question="The texts are deleted permanently. Numbers, times, segments and outcomes stay."
    />
    <Button onClick={() => saveFile(new Blob(marked.map((one) => `${JSON.stringify(one)}\n`)), 'messages.ndjson')}>
      Export NDJSON
    </Button>
  </>
)

interface OneProps extends BulkProps {
  name: Name
  verb: string
  past: string
  question: ReactNode
}

function Bulk({ name, verb, past, marked, unmark, question }: OneProps) {
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  if (marked.length === 0) return null
  const run = async () => {
    setBusy(true)
    const failures = await callEach(
      name,
      marked.map(({ id }) => id),
    )
    setBusy(false)
    const done = marked.length - failures.length
    if (failures.length === 0) toast(`${tellCount(done, 'message')} ${past}.`)
    else
      toast(`${done} of ${tellCount(marked.length, 'message')} ${past}. ${failures[0] ?? ''}`, {
        isError: true,
      })
    unmark()
    await client.invalidateQueries()
    return done
  }
  return (
    <ConfirmButton
      does={name}
      label={`${verb} ${tellCount(marked.length, 'message')}`}
      question={question}
      onConfirm={run}
      isBusy={isBusy}
      isDanger={name !== 'resendMessage'}
    />
  )
}

/** The failures in words. */
async function callEach(name: Name, ids: readonly string[]): Promise<string[]> {
  const failures: string[] = []
  const rest = [...ids]
  const work = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      try {
        await heliogram.call(name, { path: { id } }, { idempotencyKey: newIdempotencyKey() })
      } catch (error) {
        failures.push(error instanceof HeliogramError ? error.detail : String(error))
      }
    }
  }
  await Promise.all(Array.from({ length: width }, work))
  return failures
}
