/** The summary of a restore: contents, pending work, and how to release it. */
import type { Config } from '../../config.ts'
import { showId } from '../../../ground/base/ids.ts'
import type { Finished, FinishOptions } from './finish.ts'
import { showMany, type BackupHeader } from './format.ts'
import type { Loader } from './load.ts'

interface Restored {
  header: BackupHeader
  loaded: Pick<Loader, 'rows' | 'tables'>
  seconds: number
  finished: Finished
  options: FinishOptions
  config: Config
}

export function tellRestored({ header, loaded, seconds, finished, options, config }: Restored): string {
  const { disabled, waiting } = finished
  const waits = [
    waiting.messages > 0 && `${showMany(waiting.messages, 'message')} to be sent now`,
    waiting.delayed > 0 && `${showMany(waiting.delayed, 'message')} scheduled for later`,
    waiting.broadcasts > 0 && `${showMany(waiting.broadcasts, 'broadcast')} in progress or scheduled`,
    waiting.imports > 0 && `${showMany(waiting.imports, 'import')} in progress`,
    waiting.posts > 0 && `${showMany(waiting.posts, 'post')} to webhooks`,
    waiting.deliveries > 0 && `${showMany(waiting.deliveries, 'delivery')} to SMPP clients`,
  ].filter((one) => one !== false)
  const foreign = header.tables.filter(({ name }) => !loaded.tables.has(name)).map(({ name }) => name)
  return [
    `The database is restored as of ${header.takenAt}: ${showMany(loaded.rows, 'row')} of ${showMany(loaded.tables.size, 'table')} in ${seconds.toFixed(1)} s, every checksum is right.`,
    ...(foreign.length === 0 ? [] : [`Left out, because they are not tables of Heliogram: ${foreign.join(', ')}.`]),
    waits.length === 0 ? 'Nothing is pending in it.' : `Pending in it: ${waits.join(', ')}.`,
    ...(options.isWithoutKey ? withoutKey(config) : []),
    ...(disabled.length > 0 ? tellDisabled(disabled, config) : []),
    '',
    'Keep all processes of the original database stopped: two services with one queue send everything twice.',
    '',
  ].join('\n')
}

function tellDisabled(disabled: Finished['disabled'], { publicUrl }: Config): string[] {
  return [
    '',
    'Its carriers are disabled, so that nothing pending is sent a second time unseen. Opt-outs since then are not known here either.',
    'Start the service (heliogram start), check what is pending (GET /v1/queue, GET /v1/messages?status=queued, or the console), cancel what is not needed,',
    'and import the opt-outs that you know of. Then enable the carriers, in the console or with:',
    '',
    ...disabled.flatMap(({ id, name }) => [
      `  # ${name}`,
      `  curl -X PATCH ${publicUrl}/v1/carriers/${showId('car', id)} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"enabled":true}'`,
    ]),
  ]
}

const withoutKey = ({ keyFile }: Config): string[] => [
  '',
  `Everything encrypted with the lost master key was deleted. The new key is in ${keyFile}: keep a copy of it elsewhere. Set each carrier's password, each`,
  'webhook\'s secret and headers, and the token of each program that uses the Twilio API (docs/runbooks.md, "Lost master key").',
]
