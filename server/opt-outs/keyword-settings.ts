/** Keyword settings of an account, and of each of its campaigns; missing ones come from the account, or the defaults. */
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { Nullable } from '../ground/http/http.ts'
import { foldWord } from './fold.ts'
import {
  keywordDefaults,
  keywordLengthMax,
  suspicionActions,
  writeReply,
  type Keyword,
  type KeywordSettings,
} from './keywords.ts'

const words = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: keywordLengthMax }), { description, minItems: 1, maxItems: 200 })
// Three segments of GSM-7: an unrequested answer should not cost more.
const reply = (description: string) => Nullable(Type.String({ minLength: 1, maxLength: 459, description }))

/** Body of a change: missing fields are inherited from the account, or the defaults. */
export const KeywordInput = Type.Object(
  Type.Partial(
    Type.Object({
      stop_keywords: words('Replies that opt out, also with courtesies around them. STOP is always included.'),
      start_keywords: words('Whole replies that opt in again.'),
      help_keywords: words('Whole replies that ask for help.'),
      replies: Type.Object(
        Type.Partial(
          Type.Object({
            stop: reply('Sent once after an opt-out; `{{account_name}}` is the name of the account; null: nothing.'),
            start: reply('Sent after an opt-in; null: nothing.'),
            help: reply('Sent after a request for help; null: nothing.'),
          }),
        ).properties,
        { additionalProperties: false },
      ),
      on_suspicion: Type.Enum([...suspicionActions], {
        description:
          'The effect of a reply that only looks like STOP (`no more texts`): `flag` it for review, `ignore`, or `opt_out`.',
      }),
    }),
  ).properties,
  { additionalProperties: false, examples: [{ help_keywords: ['HELP', 'HILFE'] }] },
)
export type KeywordInput = Static<typeof KeywordInput>

const fieldOf = { stop: 'stop_keywords', start: 'start_keywords', help: 'help_keywords' } as const

/** Errors of a change beyond the schema: STOP is missing, a word is empty, or has two meanings. */
export function checkKeywords(input: KeywordInput, inherited: KeywordInput | null = null): FieldError[] {
  const faults: FieldError[] = []
  const { words: known } = mergeKeywords([inherited, input])
  const meaningOf = new Map<string, Keyword>()
  for (const keyword of ['stop', 'start', 'help'] as const)
    for (const [at, word] of known[keyword].entries()) {
      const folded = foldWord(word)
      const meaning = meaningOf.get(folded)
      const field = input[fieldOf[keyword]] ? fieldOf[keyword] : fieldOf[meaning ?? keyword]
      const pointer = input[fieldOf[keyword]] ? `#/${field}/${at}` : `#/${field}`
      if (folded === '') faults.push({ pointer, code: 'invalid_value', detail: 'has neither letters nor digits' })
      else if (meaning && meaning !== keyword)
        faults.push({ pointer, code: 'invalid_value', detail: `is also a keyword for ${meaning}: ${word}` })
      meaningOf.set(folded, keyword)
    }
  // People everywhere expect STOP to work, and carriers require it.
  if (input.stop_keywords && meaningOf.get('STOP') !== 'stop')
    faults.push({ pointer: '#/stop_keywords', code: 'invalid_value', detail: 'must contain STOP' })
  return faults
}

/** Settings from the most general to the most specific, over the defaults. */
export function mergeKeywords(inputs: readonly (KeywordInput | null)[]): KeywordSettings {
  const merged: KeywordSettings = {
    words: { ...keywordDefaults.words },
    replies: { ...keywordDefaults.replies },
    onSuspicion: keywordDefaults.onSuspicion,
  }
  for (const input of inputs) {
    if (!input) continue
    for (const keyword of ['stop', 'start', 'help'] as const) {
      merged.words[keyword] = input[fieldOf[keyword]] ?? merged.words[keyword]
      const said = input.replies?.[keyword]
      if (said !== undefined) merged.replies[keyword] = said
    }
    merged.onSuspicion = input.on_suspicion ?? merged.onSuspicion
  }
  return merged
}

/** Settings of an account (campaign null) or one of its campaigns; null: none. By the unique (account_id, campaign_id). */
export async function findKeywords(
  db: Queryable,
  accountId: string,
  campaignId: string | null,
): Promise<KeywordInput | null> {
  const { rows } = await db.query<{ settings: KeywordInput }>({
    name: 'find-keywords',
    text: `
      select settings
      from keyword_settings
      where account_id = $1
        and campaign_id is not distinct from $2::uuid`,
    values: [accountId, campaignId],
  })
  return rows[0]?.settings ?? null
}

/** Replaces the settings; locks the one row. */
export async function saveKeywords(
  db: Queryable,
  accountId: string,
  campaignId: string | null,
  input: KeywordInput,
): Promise<void> {
  await db.query({
    name: 'save-keywords',
    text: `
      insert into keyword_settings (account_id, campaign_id, settings)
      values ($1, $2, $3)
      on conflict (account_id, campaign_id) do update set settings = excluded.settings, updated_at = now()`,
    values: [accountId, campaignId, JSON.stringify(input)],
  })
}

/** The public form: all effective settings, from any source. */
export function showKeywords(settings: KeywordSettings) {
  return {
    stop_keywords: [...settings.words.stop],
    start_keywords: [...settings.words.start],
    help_keywords: [...settings.words.help],
    replies: settings.replies,
    on_suspicion: settings.onSuspicion,
  }
}

/** The sources of inherited settings: a campaign inherits from its account, an account only from the defaults. */
export function sourcesOf(inherited: KeywordInput | null) {
  const from = (isSaid: boolean): 'account' | 'defaults' => (isSaid ? 'account' : 'defaults')
  const replies = inherited?.replies
  return {
    stop_keywords: from(inherited?.stop_keywords !== undefined),
    start_keywords: from(inherited?.start_keywords !== undefined),
    help_keywords: from(inherited?.help_keywords !== undefined),
    replies: {
      stop: from(replies?.stop !== undefined),
      start: from(replies?.start !== undefined),
      help: from(replies?.help !== undefined),
    },
    on_suspicion: from(inherited?.on_suspicion !== undefined),
  }
}

/** For an account: the answers as sent. `own` is its row in `keyword_settings`. */
export function showOptOutSettings(own: unknown, name: string) {
  const settings = mergeKeywords([own as KeywordInput | null])
  const { stop_keywords, start_keywords, help_keywords } = showKeywords(settings)
  const replyTo = (keyword: Keyword): string | null => writeReply(settings, keyword, name)
  const replies = { stop: replyTo('stop'), start: replyTo('start'), help: replyTo('help') }
  return { stop_keywords, start_keywords, help_keywords, replies }
}
