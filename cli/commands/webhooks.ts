import type { Attempt, Client, OperationRequest, Webhook } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { exits, Failure } from '../exit.ts'
import { readSpan } from '../input/moments.ts'
import { readWords } from '../input/pairs.ts'
import { lists } from '../terminal/list.ts'
import { note, paint, say } from '../terminal/output.ts'
import { factsOf, sayFacts, sayResource, type Column } from '../terminal/table.ts'
import { clean, safeJson } from '../terminal/text.ts'
import { localTime, spanOf } from '../terminal/times.ts'

type Types = OperationRequest<'createWebhook'>['body']['events']

const columns: Column<Webhook>[] = [
  { title: 'ID', of: ({ id }) => id },
  {
    title: 'STATE',
    of: ({ enabled, failing_since: since, disabled_reason: reason }) =>
      enabled ? (since ? 'failing' : 'ok') : `off (${reason ?? 'request'})`,
    paint: (text, { enabled, failing_since: since }) => paint(enabled && !since ? 'green' : 'red', text),
  },
  { title: 'URL', of: ({ url }) => url, isFlexible: true },
  { title: 'EVENTS', isExtra: true, of: ({ events }) => events.join(', '), isFlexible: true },
]

const attemptColumns: Column<Attempt>[] = [
  { title: 'AT', of: ({ created_at: at }) => localTime(at) },
  { title: 'EVENT', of: ({ event }) => event },
  { title: 'TYPE', isExtra: true, of: ({ event_type: type }) => type },
  { title: 'TRY', of: (attempt) => attempt.try, isNumber: true },
  {
    title: 'OUTCOME',
    of: ({ outcome, status_code: code }) => (code === null ? outcome : `${outcome} ${code}`),
    paint: (text, { outcome }) => paint(outcome === 'ok' ? 'green' : 'red', text),
  },
  { title: 'TOOK', of: ({ duration_ms: ms }) => spanOf(ms), isNumber: true },
  { title: 'AGAIN', isExtra: true, of: ({ next_attempt_at: at }) => localTime(at) ?? '' },
  { title: 'ANSWER', isExtra: true, of: ({ response }) => response ?? '', isFlexible: true },
]

export function build(cli: Cli): Command {
  const command = new Command('webhooks')
  const saySecret = async ({ secret, ...webhook }: Webhook & { secret: string }): Promise<void> => {
    if (cli.isJson) return say(safeJson({ ...webhook, secret }))
    await sayFacts([...factsOf(webhook), ['secret', secret]])
    note('The secret is shown only now.')
  }
  lists(cli, command.command('list').summary('newest first'), {
    columns,
    empty: 'There are no webhooks.',
    ask: (client, query) => client.call('listWebhooks', { query }),
  })
  command
    .command('get <webhook>')
    .summary('a webhook with all its settings')
    .action(async (id: string) => sayResource(cli, await cli.call('getWebhook', { path: { id } })))
  command
    .command('create <url>')
    .summary('create a webhook; its secret is shown once')
    .option(
      '--event <type>',
      'events to post: types, families ("message.*") or everything ("*"); default: delivered, failed and received messages',
      readWords,
    )
    .option('--description <text>', 'a description for people')
    .option('--bodies', 'with the texts of messages')
    .action(
      async (
        url: string,
        { event, description, bodies }: { event?: string[]; description?: string; bodies?: true },
      ) => {
        // The API validates types.
        const body = { url, events: event as Types, description, include_bodies: bodies }
        await saySecret(await cli.call('createWebhook', { body }))
      },
    )
  command
    .command('test <webhook>')
    .summary('post a test event, and show the result')
    .action(async (id: string) => test(cli, id))
  lists(cli, command.command('deliveries <webhook>').summary('all delivery attempts, newest first'), {
    columns: attemptColumns,
    empty: 'There were no posts.',
    ask: (client, page, id: string, { failed }: { failed?: true }) =>
      client.call('listWebhookDeliveries', { path: { id }, query: { ...page, delivery_success: failed && false } }),
  }).option('--failed', 'only failed ones')
  command
    .command('rotate <webhook>')
    .summary('rotate the secret; both sign for a while')
    .option('--grace <span>', 'how long both sign; default: a day', readSpan)
    .action(async (id: string, { grace }: { grace?: number }) =>
      saySecret(await cli.call('rotateWebhookSecret', { path: { id }, body: { grace_seconds: grace } })),
    )
  for (const [word, enabled, summary] of [
    ['enable', true, 'begin afresh; what is past comes by a replay only'],
    ['disable', false, 'post nothing more; pending events are dropped'],
  ] as const)
    command
      .command(`${word} <webhook>`)
      .summary(summary)
      .action(async (id: string) => {
        const webhook = await cli.call('updateWebhook', { path: { id }, body: { enabled } })
        await (cli.isJson ? say(safeJson(webhook)) : note(`${webhook.url} is ${enabled ? 'on' : 'off'}.`))
      })
  command
    .command('delete <webhook>')
    .summary('delete a webhook')
    .action(async (id: string) => {
      await cli.call('deleteWebhook', { path: { id } })
      note(`${id} deleted.`)
    })
  return command
}

async function test(cli: Cli, id: string): Promise<void> {
  const client = await cli.client()
  const { event } = await client.call('testWebhook', { path: { id } })
  const attempt = await waitForAttempt(client, event, id)
  if (attempt === null)
    throw new Failure(
      exits.waiting,
      'The post has not been answered yet.',
      `Check later: heliogram webhooks deliveries ${id}`,
    )
  if (cli.isJson) await say(safeJson(attempt))
  else {
    const { outcome, status_code: code, request, duration_ms: ms, response } = attempt
    await say(
      `${paint(outcome === 'ok' ? 'green' : 'red', outcome)}  ${request.url ?? ''}${code === null ? '' : ` answered ${code}`} in ${spanOf(ms)}`,
    )
    if (response) await say(clean(response))
  }
  if (attempt.outcome !== 'ok') throw new Failure(exits.refused, 'The post failed.')
}

/** The attempt at an event can take 15 seconds. */
async function waitForAttempt(client: Client, event: string, webhook: string): Promise<Attempt | null> {
  const giveUpAt = performance.now() + 20_000
  while (performance.now() < giveUpAt) {
    const { data } = await client.call('listEventDeliveries', { path: { id: event } })
    const found = data.find((attempt) => attempt.webhook === webhook)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return null
}
