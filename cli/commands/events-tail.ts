/** `heliogram events tail`: streams events, reconnects, and forwards them if requested. */
import type { Client, Event, HeliogramError } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { misused } from '../exit.ts'
import { note, paint, paintNote, say } from '../terminal/output.ts'
import { clean, safeJson } from '../terminal/text.ts'
import { clockTime } from '../terminal/times.ts'
import { forward, forwardSecret } from './events-forward.ts'
import { readStream } from './events-stream.ts'

export interface TailOptions {
  type?: string[]
  message?: string
  after?: string
  forwardTo?: string
  printSecret?: true
}

const waitMs = { first: 500, most: 15_000 }

/** Prints events until Ctrl-C. Reconnects when the connection is lost. @throws refusals of the API */
export async function tail(cli: Cli, options: TailOptions): Promise<void> {
  if (options.printSecret) return say((await forwardSecret(cli.environment.folder)).secret)
  const target = options.forwardTo === undefined ? null : checkTarget(options.forwardTo)
  const client = await cli.client()
  const secret = target === null ? null : await openForwarding(cli, target)
  let last = options.after
  cli.whenInterrupted(() => (last === undefined ? '' : `Continue with: heliogram events tail --after ${last}`))
  let isTold = false
  for (let failures = 0; ;) {
    try {
      const answer = await open(client, options, last)
      if (!isTold && !cli.isJson) note(paintNote('dim', 'Waiting for events. Press Ctrl-C to stop.'))
      isTold = true
      for await (const told of readStream(answer)) {
        failures = 0
        // A heartbeat also reports the position.
        if (told.data === null) {
          last = told.id ?? last
          continue
        }
        const event = JSON.parse(told.data) as Event
        await (cli.isJson ? say(safeJson(event)) : sayEvent(event))
        if (target !== null && secret !== null) await forward(target, secret, event)
        last = event.id
      }
    } catch (error) {
      if (!isLost(error) || !isTold) throw error
      const ms = Math.min(waitMs.most, waitMs.first * 2 ** failures++)
      if (failures === 2) note(paintNote('yellow', 'The connection was lost; connecting again.'))
      await new Promise((resolve) => setTimeout(resolve, ms))
    }
  }
}

const open = (client: Client, { type, message }: TailOptions, after: string | undefined): Promise<Response> =>
  client.open(
    'streamEvents',
    { query: { type: type?.join(','), message, after } },
    { headers: { accept: 'text/event-stream' } },
  )

/** Whether to reconnect: the connection was lost, or the service is temporarily failing. */
function isLost(error: unknown): boolean {
  const { name, status, retryable } = error as Partial<HeliogramError>
  return name === 'HeliogramError' ? status === 0 || retryable === true : error instanceof TypeError
}

async function openForwarding(cli: Cli, target: string): Promise<string> {
  const { secret, isNew, file } = await forwardSecret(cli.environment.folder)
  note(`Events are posted to ${target}, signed with ${isNew ? secret : 'the same secret as before'}.`)
  note(
    paintNote(
      'dim',
      isNew
        ? `It is stored in ${file}: verify with it as with a webhook's secret.`
        : '"heliogram events tail --print-secret" shows it.',
    ),
  )
  return secret
}

function checkTarget(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol))
    throw misused(`"${text}" is not an address to post to.`)
  return url
}

async function sayEvent(event: Event): Promise<void> {
  await say(
    `${paint('dim', clockTime(new Date(event.timestamp)))}  ${paint('bold', event.type.padEnd(18))}  ${clean(subjectOf(event))}  ${paint('dim', event.id)}`,
  )
}

/** A short label of an event's subject. */
export function subjectOf({ data }: Event): string {
  const { message } = data as {
    message?: {
      id: string
      direction: string
      from: string | null
      to: string | null
      message: string | null
      error?: { code: string } | null
    }
  }
  if (message) {
    const { id, direction, from, to, error } = message
    const text =
      message.message === null
        ? ''
        : ` "${message.message.length > 40 ? `${message.message.slice(0, 39)}…` : message.message}"`
    return `${id}  ${direction === 'inbound' ? `from ${from}` : `to ${to}`}${error ? ` (${error.code})` : ''}${direction === 'inbound' ? text : ''}`
  }
  const [[name, value] = ['', null]] = Object.entries(data)
  return typeof value === 'object' && value !== null && 'id' in value
    ? String(value.id)
    : `${name} ${typeof value === 'string' ? value : ''}`
}
