/** `heliogram events tail`: streams events, reconnects, and forwards them if requested. */
import type { Client, Event, HeliogramError } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { misused } from '../exit.ts'
import { note, paint, paintNote, say } from '../terminal/output.ts'
import { clean, safeJson } from '../terminal/text.ts'
import { clockTime, spanOf } from '../terminal/times.ts'
import { readStream } from './events-stream.ts'
import { createHmac, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

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

const prefix = 'whsec_'
// The same as for webhooks.
const timeoutMs = 15_000

/** The signing secret of forwarded events. Created once, so that the receiver can store it. */
async function forwardSecret(folder: string): Promise<{ secret: string; isNew: boolean; file: string }> {
  const file = join(folder, 'forward-secret')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const made = prefix + randomBytes(32).toString('base64')
  try {
    await writeFile(file, `${made}\n`, { mode: 0o600, flag: 'wx' })
    return { secret: made, isNew: true, file }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return { secret: (await readFile(file, 'utf8')).trim(), isNew: false, file }
  }
}

/** Posts an event once, without retries, and prints the outcome. */
async function forward(url: string, secret: string, event: Event): Promise<void> {
  const body = JSON.stringify(event)
  const timestamp = Math.floor(Date.now() / 1000)
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
  const startedAt = performance.now()
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await answer.body?.cancel()
    const took = paintNote('dim', `in ${spanOf(performance.now() - startedAt)}`)
    note(`          ${paintNote(answer.ok ? 'green' : 'red', `→ ${answer.status}`)} ${took}`)
  } catch (error) {
    const { message, cause } = error as Error
    const why = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message
    note(`          ${paintNote('red', `→ failed: ${clean(why)}`)}`)
  }
}
