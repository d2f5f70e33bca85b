/** `heliogram send --dry-run`. */
import type { Answer, Client } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { paint, say } from '../terminal/output.ts'
import { sayFacts } from '../terminal/table.ts'
import { clean, safeJson } from '../terminal/text.ts'

interface Draft {
  to: string
  message: string | undefined
  type?: 'otp' | 'transactional' | 'marketing'
  template?: string
  var?: Record<string, string>
  language?: string
  smart?: true
  shorten?: true
}

/** Prints what a message would be: nothing is sent. */
export async function sayPreview(cli: Cli, client: Client, draft: Draft): Promise<void> {
  const { to, type, language, smart: smart_encoding, shorten: shorten_urls } = draft
  const preview: Answer<'previewMessage'> | Answer<'previewTemplate'> =
    draft.message === undefined
      ? await client.call('previewTemplate', {
          path: { template: draft.template ?? '' },
          body: { variables: draft.var, language },
        })
      : await client.call('previewMessage', {
          body: { to, message: draft.message, type, smart_encoding, shorten_urls },
        })
  if (cli.isJson) return say(safeJson(preview))
  const { encoding, segments, characters, parts, warnings } = preview
  const price = 'estimated_price' in preview ? preview.estimated_price : null
  await sayFacts([
    ['to', `${to}${preview.opted_out ? ' – has opted out: it would be refused' : ''}`],
    ['size', `${segments} ${segments === 1 ? 'segment' : 'segments'}, ${encoding}, ${characters} characters`],
    ['price', price ? `${price.amount} ${price.currency}, estimated` : 'not known: no rate card has one'],
  ])
  await say()
  for (const [i, part] of parts.entries()) await say(`${paint('dim', `${i + 1} │`)} ${clean(part.text)}`)
  if (warnings.length > 0) await say()
  for (const { detail } of warnings) await say(paint('yellow', clean(detail)))
  await say(paint('dim', '\nNothing was sent.'))
}
