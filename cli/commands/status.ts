import { createClient, type Answer, type Client, type HeliogramError } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { exits, Failure } from '../exit.ts'
import { sayLinks } from '../terminal/links.ts'
import { paint, say } from '../terminal/output.ts'
import { paintStatus } from '../terminal/status.ts'
import { sayFacts } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { localTime, spanOf } from '../terminal/times.ts'
import { showLive } from '../terminal/watch.ts'

type Summary = Answer<'getSummary'>

/** The summary is null if the caller may not read it, or the service is failing. */
interface Seen {
  health: Answer<'getHealth'>
  summary: Summary | null
}

export function build(cli: Cli): Command {
  return new Command('status')
    .description(
      'Health, rates, links, queue, broadcasts and what needs attention on one screen. The exit code is 1 if the service is failing.',
    )
    .option('-w, --watch', 'refresh every two seconds')
    .action(async ({ watch = false }: { watch?: boolean }) => {
      const { client, url } = await cli.session()
      let last: Seen | null = null
      await showLive(cli, watch, async () => {
        last = await look(client, url)
        await (cli.isJson ? say(safeJson(last)) : saySeen(last, url))
      })
      const seen = last as Seen | null
      if (seen?.health.status === 'failing')
        throw new Failure(exits.refused, 'The service is failing: see docs/runbooks.md.')
    })
}

async function look(client: Client, url: string): Promise<Seen> {
  // No retries: a failing service must be reported now.
  const read = client.call('getSummary', undefined, { retries: 0 }).catch((error: unknown) => {
    const { status = 0 } = error as Partial<HeliogramError>
    if (status === 403 || status >= 500) return null
    throw error
  })
  const [health, summary] = await Promise.all([readHealth(url), read])
  return { health, summary }
}

/** Needs no login. Reads the body even of a 503. */
async function readHealth(url: string): Promise<Answer<'getHealth'>> {
  const asked = createClient({
    baseUrl: url,
    retries: 0,
    // The SDK treats 503 as a failure; here it is a result.
    fetch: async (...request) => {
      const answer = await fetch(...request)
      return answer.status === 503 ? new Response(answer.body, { headers: answer.headers }) : answer
    },
  })
  return asked.call('getHealth')
}

async function saySeen({ health, summary }: Seen, url: string): Promise<void> {
  await say(
    `${paint('bold', 'Heliogram')} ${health.version} at ${url}  ${paintStatus(health.status)}  ${paint('dim', localTime(new Date().toISOString()) ?? '')}`,
  )
  await sayFacts(
    Object.entries(health.checks).map(([name, { ok, vital, ...rest }]) => {
      const told = Object.entries(rest).map(([key, value]) => describeCheck(key, value))
      return [
        name,
        `${ok ? 'ok' : vital ? 'FAILING' : 'not ok'}${told.length > 0 ? `  (${told.join(', ')})` : ''}`,
      ] as const
    }),
    '  ',
  )
  if (summary !== null) await saySummary(summary)
}

async function saySummary({ rates, in_progress: open, broadcasts, carriers, queue, attention, ...rest }: Summary) {
  const title = async (text: string): Promise<void> => say(`\n${paint('bold', text)}`)
  await title('Messages')
  await sayFacts(
    [
      [
        'a second',
        `accepted ${rates.accepted}, sent ${rates.sent}, delivered ${rates.delivered}, failed ${rates.failed}`,
      ],
      ['in progress', `queued ${open.queued}, sent ${open.sent}, unconfirmed ${open.unconfirmed}`],
      ['unread conversations', rest.unread_conversations],
    ],
    '  ',
  )
  if (broadcasts !== null && broadcasts.length > 0) {
    await title('Broadcasts')
    await sayFacts(
      broadcasts.map(({ campaign, status, stats, eta_seconds: eta }) => {
        const left = `${stats.queued} of ${stats.recipients} left`
        return [campaign.name, `${status}, ${left}${eta === null ? '' : `, ends in ${spanOf(eta * 1000)}`}`] as const
      }),
      '  ',
    )
  }
  if (carriers !== null) {
    await title('Links')
    await (carriers.length > 0 ? sayLinks(carriers) : say('  There are no carriers.'))
  }
  if (queue !== null) {
    await title('Queue')
    const waiting = queue.parts.map(
      ({ type, carrier, messages, oldest_age_seconds: age, drain_seconds: drain, held }) => {
        const at = carriers?.find(({ id }) => id === carrier)?.name ?? carrier
        const facts = [
          held && 'held',
          age !== null && `oldest ${spanOf(age * 1000)}`,
          drain !== null && `drains in ${spanOf(drain * 1000)}`,
        ].filter(Boolean)
        return [
          `${type}${at ? ` for ${at}` : ''}`,
          `${messages}${facts.length > 0 ? `, ${facts.join(', ')}` : ''}`,
        ] as const
      },
    )
    const { messages, next_due_at: due } = queue.delayed
    await sayFacts(
      [
        ['waiting for a link', queue.messages],
        ...waiting,
        ['waiting for a time', `${messages}${due ? `, the next at ${localTime(due)}` : ''}`],
      ],
      '  ',
    )
  }
  await title(attention.length === 0 ? 'Nothing needs attention.' : 'Needs attention')
  await sayFacts(
    attention.map(({ type, name, subject, count, detail, since }) => {
      const facts = [name ?? subject, count, detail, since && `since ${localTime(since)}`]
      return [paint('red', type), facts.filter((fact) => fact !== null).join(', ')] as const
    }),
    '  ',
  )
}

/** `free_bytes` in GB, `answered_in_ms` as a span, others unchanged. */
function describeCheck(key: string, value: unknown): string {
  const name = key.replace(/_(ms|bytes)$/, '').replaceAll('_', ' ')
  if (key.endsWith('_ms')) return `${name} ${spanOf(Number(value))}`
  if (key.endsWith('_bytes')) return `${name} ${(Number(value) / 1e9).toFixed(1)} GB`
  return `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`
}
