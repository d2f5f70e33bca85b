import type { Queryable, Tx } from '../ground/db/db.ts'
import { parseId } from '../ground/base/ids.ts'
import type { Found, Position } from '../ground/http/page.ts'
import { findRows, hasWords, isCreatedIn, type Search } from '../ground/http/search.ts'

export interface TemplateRow extends TemplateTexts {
  id: string
  name: string
  createdAt: Date
  updatedAt: Date
}

const columns = `id, name, language, body, languages, created_at as "createdAt", updated_at as "updatedAt"`

/** Returns null if the name is taken. */
export async function insertTemplate(
  tx: Tx,
  accountId: string,
  { id, name, language, body, languages }: TemplateTexts & { id: string; name: string },
): Promise<TemplateRow | null> {
  const { rows } = await tx.query<TemplateRow>({
    name: 'insert-template',
    text: `
      insert into templates (account_id, id, name, language, body, languages)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (account_id, name) do nothing
      returning ${columns}`,
    values: [accountId, id, name, language, body, languages],
  })
  return rows[0] ?? null
}

/** Finds templates by ids or names; by the primary key and the unique (account_id, name). Locks nothing. */
export async function findTemplates(
  db: Queryable,
  accountId: string,
  idsOrNames: readonly string[],
): Promise<TemplateRow[]> {
  const ids = idsOrNames.flatMap((one) => parseId('tpl', one) ?? [])
  const { rows } = await db.query<TemplateRow>({
    name: 'find-templates',
    text: `
      select ${columns}
      from templates
      where account_id = $1
        and (id = any ($2::uuid[]) or name = any ($3::text[]))`,
    values: [accountId, ids, idsOrNames],
  })
  return rows
}

/** Locks the row until the transaction ends. By primary key. */
export async function lockTemplate(tx: Tx, accountId: string, id: string): Promise<TemplateRow | null> {
  const { rows } = await tx.query<TemplateRow>({
    name: 'lock-template',
    text: `
      select ${columns}
      from templates
      where account_id = $1
        and id = $2
      for no key update`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

/** Writes all editable columns. By primary key. @throws a unique violation if the name is taken. */
export async function updateTemplate(
  tx: Tx,
  accountId: string,
  { id, name, language, body, languages }: TemplateTexts & { id: string; name: string },
): Promise<TemplateRow | null> {
  const { rows } = await tx.query<TemplateRow>({
    name: 'update-template',
    text: `
      update templates t
      set name = $3, language = $4, body = $5, languages = $6, updated_at = now()
      where account_id = $1
        and id = $2
        and not exists (
          select from templates o
          where o.account_id = $1
            and o.name = $3
            and o.id <> $2
        )
      returning ${columns}`,
    values: [accountId, id, name, language, body, languages],
  })
  return rows[0] ?? null
}

/** An open campaign that uses a template, which the caller has locked; null: none. By the partial index campaigns_template. */
export async function findUseOfTemplate(tx: Tx, accountId: string, id: string): Promise<string | null> {
  const { rows } = await tx.query<{ id: string }>(
    `select id
     from campaigns
     where account_id = $1
       and template_id = $2
       and status not in ('archived', 'canceled')
     limit 1`,
    [accountId, id],
  )
  return rows[0]?.id ?? null
}

/** False if there was none. Closed campaigns lose their text. By primary key. */
export async function deleteTemplate(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'delete-template',
    text: `
      delete from templates
      where account_id = $1
        and id = $2`,
    values: [accountId, id],
  })
  return rowCount === 1
}

/** Null: all. */
export interface TemplateFilters {
  /** Words of the name. */
  name: string | null
  /** With or without a region. */
  language: string | null
  createdAfter: Date | null
  createdBefore: Date | null
}

const hasLanguage = (language: string): string => `exists (
  select from jsonb_object_keys(t.languages || jsonb_build_object(t.language, '')) as l
  where l = ${language} or starts_with(l, ${language} || '-'))`

/** One page in the order of `buildPage`, with one row more than `limit`. By the primary key; reads a bounded number of rows. */
export function listTemplates(
  db: Queryable,
  accountId: string,
  { name, language, createdAfter, createdBefore }: TemplateFilters,
  limit: number,
  position: Position | null,
): Promise<Found<TemplateRow>> {
  const search: Search = {
    table: 'templates',
    columns,
    accountId,
    found: (value) => isCreatedIn(createdAfter, createdBefore, value),
    matches: (value) => [
      ...(name === null ? [] : hasWords('t.name', name, value)),
      ...(language === null ? [] : [hasLanguage(value(language))]),
    ],
  }
  return findRows(db, search, limit, position)
}

export interface TemplateTexts {
  body: string
  language: string
  languages: Readonly<Record<string, string>>
}
