/** Defaults that messages inherit from their campaign, read by the same join as in accept. */
import type { Queryable } from '../ground/db/db.ts'
import { parseId } from '../ground/base/ids.ts'
import type { MessageType } from '../message/message.ts'
import type { TemplateTexts } from '../templates/store.ts'
import type { Variables } from './read-send.ts'

/** The defaults that shape a text; routing finds the sender. */
export interface CampaignDefaults {
  id: string
  type: MessageType | null
  shortensUrls: boolean
  /** The text of its broadcasts with its values, or null. */
  text: { texts: TemplateTexts; variables: Variables } | null
}

/** By the primary key or the unique (account_id, key), and a template's primary key. */
export async function findCampaignDefaults(
  db: Queryable,
  accountId: string,
  idOrKey: string,
): Promise<CampaignDefaults | null> {
  const id = parseId('cmp', idOrKey)
  const { rows } = await db.query<
    Omit<CampaignDefaults, 'text'> & { message: string | null; variables: Variables } & Partial<TemplateTexts>
  >(
    `select c.id, c.type, coalesce(c.shorten_urls, false) as "shortensUrls", c.message, c.variables, t.body, t.language, t.languages
     from campaigns c
     left join templates t on t.account_id = c.account_id and t.id = c.template_id
     where c.account_id = $1
       and c.${id === null ? 'key' : 'id'} = $2`,
    [accountId, id ?? idOrKey],
  )
  const [row] = rows
  if (!row) return null
  const { message, variables, body, language, languages, ...defaults } = row
  const texts =
    message !== null
      ? { body: message, language: 'en', languages: {} }
      : body && language && languages
        ? { body, language, languages }
        : null
  return { ...defaults, text: texts && { texts, variables } }
}
