import {
  newIdempotencyKey,
  type Client,
  type HeliogramError,
  type Message,
  type OperationRequest,
} from '@heliogram/sdk'
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { exits, Failure, misused } from '../exit.ts'
import { readText } from '../input/given.ts'
import { readFuture, readSpan } from '../input/moments.ts'
import { readPair, readWords } from '../input/pairs.ts'
import { note, paint, say } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { showSegments, showSize } from '../terminal/size.ts'
import { paintStatus } from '../terminal/status.ts'
import { sayFacts } from '../terminal/table.ts'
import { safeJson, clean } from '../terminal/text.ts'
import { localTime, spanOf } from '../terminal/times.ts'

interface SendOptions {
  from?: string
  campaign?: string
  type?: 'otp' | 'transactional' | 'marketing'
  at?: string
  validity?: number
  template?: string
  var?: Record<string, string>
  language?: string
  smart?: true
  shorten?: true
  metadata?: Record<string, string>
  tag?: string[]
  dryRun?: true
  wait?: true
  timeout: number
  idempotencyKey?: string
}

export function build(cli: Cli): Command {
  return new Command('send')
    .argument('<to>', 'the number, with its country code: 15551234567')
    .argument('[text]', 'the text; "-" reads it from standard input')
    .option('--from <sender>', 'one of your senders')
    .option('--campaign <campaign>', 'id or key of a campaign')
    .addOption(new Option('--type <type>', 'its purpose').choices(['otp', 'transactional', 'marketing']))
    .option('--at <time>', 'when: 2h, "2026-11-24 18:30", or an RFC 3339 time', readFuture)
    .option('--validity <span>', 'how long it is useful: 10m, 3h', readSpan)
    .option('--template <template>', 'id or name of a template, instead of a text')
    .option('--var <name=value>', 'a value for the template', readPair)
    .option('--language <tag>', "language of the template's text")
    .option('--smart', 'replace typographic characters if that makes it shorter')
    .option('--shorten', 'replace addresses by short links')
    .option('--metadata <name=value>', 'your own data, returned with the message', readPair)
    .option('--tag <tag>', 'for filters', readWords)
    .option('--dry-run', 'send nothing: show its segments, encoding and price')
    .option('--wait', 'follow it to its receipt; exit code 0 only if it was delivered')
    .addOption(new Option('--timeout <span>', 'maximum time to wait').argParser(readSpan).default(300, '5m'))
    .option('--idempotency-key <key>', 'a second send with the same key does nothing')
    .addHelpText('after', examples)
    .action(async (to: string, word: string | undefined, options: SendOptions) => send(cli, to, word, options))
}

const examples = `
Examples:
  heliogram send 15551234567 "Your table is ready."
  echo "Backup done" | heliogram send 15551234567 - --wait
  heliogram send 15551234567 "Grüße – bis bald" --dry-run --smart`

async function send(cli: Cli, to: string, word: string | undefined, options: SendOptions): Promise<void> {
  if ((word === undefined) === (options.template === undefined))
    throw misused(
      'Give either a text or --template.',
      'heliogram send <to> <text>; "-" reads the text from standard input.',
    )
  const message = word === undefined ? undefined : await readText(word)
  const client = await cli.client()
  const written = {
    to,
    message,
    from: options.from,
    campaign: options.campaign,
    type: options.type,
    template: options.template,
    variables: options.var,
    language: options.language,
    smart_encoding: options.smart,
    shorten_urls: options.shorten,
  }
  if (options.dryRun) return sayPreview(cli, client, written)
  const body = {
    ...written,
    send_at: options.at,
    validity_period: options.validity,
    metadata: options.metadata,
    tags: options.tag,
  }
  const idempotencyKey = options.idempotencyKey ?? newIdempotencyKey()
  cli.whenInterrupted(
    () =>
      `It is unknown whether it was accepted. Repeat it with --idempotency-key ${idempotencyKey}: it is sent only once.`,
  )
  const sent = await client.call('sendMessage', { body }, { idempotencyKey })
  cli.whenInterrupted(null)
  if (!options.wait) return saySent(cli, sent)
  if (!cli.isJson) note(`${sent.id}  to ${sent.to}, ${showSegments(sent.segments)}`)
  cli.whenInterrupted(() => `It continues by itself. To follow it: heliogram trace ${sent.id}`)
  const last = await follow(client, sent, options.timeout)
  cli.whenInterrupted(null)
  await sayEnd(cli, last)
}

async function saySent(cli: Cli, sent: Message): Promise<void> {
  if (cli.isJson) return say(safeJson(sent))
  await say(`${sent.id}  ${paintStatus(sent.status)}`)
  await sayFacts(
    [
      ['to', sent.to],
      ['from', sent.from],
      ['size', showSize(sent)],
      [
        'price',
        sent.estimated_price ? `${sent.estimated_price.amount} ${sent.estimated_price.currency}, estimated` : null,
      ],
      ['sent at', sent.status === 'scheduled' ? localTime(sent.send_at) : null],
      [
        'waits for',
        sent.hold ? `${sent.hold.reason}${sent.hold.until ? ` until ${localTime(sent.hold.until)}` : ''}` : null,
      ],
      ...(sent.warnings ?? []).map(({ code, detail }) => [code, detail] as const),
    ],
    '  ',
  )
  note(`\nTo follow it: heliogram trace ${sent.id}`)
}

/** Polls until the message is final, its outcome is unknown, or time is up; returns the last state. */
async function follow(client: Client, sent: Message, seconds: number): Promise<Message> {
  const startedAt = performance.now()
  const progress = startProgress()
  let last = sent
  try {
    for (let everyMs = 200; !last.final; everyMs = Math.min(2000, everyMs * 1.3)) {
      const agoMs = performance.now() - startedAt
      if (agoMs > seconds * 1000) break
      progress.show(`${last.status}${last.hold ? ` (waits for ${last.hold.reason})` : ''}, ${spanOf(agoMs)}`)
      await new Promise((resolve) => setTimeout(resolve, Math.min(everyMs, seconds * 1000 - agoMs + 1)))
      // Waiting continues while the service restarts.
      last = await client.call('getMessage', { path: { id: sent.id } }).catch((error: unknown) => {
        if ((error as Partial<HeliogramError>).retryable !== true) throw error
        return last
      })
    }
  } finally {
    progress.end()
  }
  return last
}

async function sayEnd(cli: Cli, last: Message): Promise<void> {
  const tookMs = last.completed_at ? Date.parse(last.completed_at) - Date.parse(last.created_at) : null
  if (cli.isJson) await say(safeJson(last))
  else {
    await say(
      `${last.id}  ${paintStatus(last.status)}${tookMs === null ? '' : paint('dim', `  after ${spanOf(tookMs)}`)}`,
    )
    if (last.error)
      await sayFacts(
        [
          [last.error.code, last.error.detail],
          ['advice', last.error.advice],
        ],
        '  ',
      )
  }
  if (last.status === 'delivered') return
  const trace = `heliogram trace ${last.id}`
  if (last.final) throw new Failure(exits.refused, `It was not delivered: ${last.error?.title ?? last.status}.`, trace)
  throw new Failure(exits.waiting, `It is not final: ${last.status}.`, trace)
}

type Draft = OperationRequest<'previewMessage'>['body'] & { to: string }

/** Prints the preview; sends nothing. */
async function sayPreview(cli: Cli, client: Client, draft: Draft): Promise<void> {
  const preview = await client.call('previewMessage', { body: draft })
  if (cli.isJson) return say(safeJson(preview))
  const { parts, warnings, from, estimated_price: price } = preview
  await sayFacts([
    ['to', `${draft.to}${preview.opted_out ? ' – has opted out: it would be refused' : ''}`],
    ['from', from],
    ['size', showSize(preview)],
    ['price', price ? `${price.amount} ${price.currency}, estimated` : 'unknown: no rate card has a price'],
  ])
  await say()
  for (const [i, part] of parts.entries()) await say(`${paint('dim', `${i + 1} │`)} ${clean(part.text)}`)
  if (warnings.length > 0) await say()
  for (const { detail } of warnings) await say(paint('yellow', clean(detail)))
  await say(paint('dim', '\nNothing was sent.'))
}
