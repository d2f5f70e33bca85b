import type { Client, OperationRequest } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { paint, say } from '../terminal/output.ts'
import { showSize } from '../terminal/size.ts'
import { sayFacts } from '../terminal/table.ts'
import { clean, safeJson } from '../terminal/text.ts'

type Draft = OperationRequest<'previewMessage'>['body'] & { to: string }

/** Prints the preview; sends nothing. */
export async function sayPreview(cli: Cli, client: Client, draft: Draft): Promise<void> {
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
