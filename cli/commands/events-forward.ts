/** Events posted to the developer's own server, signed like webhooks (Standard Webhooks 1.0). */
import { createHmac, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Event } from '@heliogram/sdk'
import { note, paintNote } from '../terminal/output.ts'
import { clean } from '../terminal/text.ts'
import { spanOf } from '../terminal/times.ts'

const prefix = 'whsec_'
// The same as for webhooks.
const timeoutMs = 15_000

/** The signing secret of forwarded events. Created once, so that the receiver can store it. */
export async function forwardSecret(folder: string): Promise<{ secret: string; isNew: boolean; file: string }> {
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
export async function forward(url: string, secret: string, event: Event): Promise<void> {
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
