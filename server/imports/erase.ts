import type { Tx } from '../ground/db/db.ts'
import type { EraseStep, Subject } from '../events/face.ts'
import { spellingsOf } from '../ground/numbers/number.ts'
import { codeLengthOf } from '../ground/numbers/plan.ts'

const errorsMax = 1000

export const importStep: EraseStep = { name: 'imports', run: eraseImportErrors }

/**
 * Bad rows that contain the number. The digits are compared without the calling code, which national forms omit; a row that has these digits by
 * chance loses its text too. By primary key, in pieces; then samples of dry runs. An upload in progress may still bring the number.
 */
async function eraseImportErrors(
  tx: Tx,
  { accountId, number, until }: Subject,
  after: string,
): ReturnType<EraseStep['run']> {
  const [importId, line, code] = after === '' ? ['00000000-0000-0000-0000-000000000000', 0, ''] : JSON.parse(after)
  // A row has the number as its author wrote it.
  const nationals = spellingsOf(number).map((form) => form.slice(codeLengthOf(form)))
  const { rows } = await tx.query<{ count: number; read: number; importId: string; line: number; code: string }>({
    name: 'erase-import-errors',
    text: `
      with piece as materialized (
        select import_id, line, code,
          regexp_replace(concat_ws(' ', value, detail, suggestion, record::text), '[^0-9]+', '', 'g') as digits
        from import_errors
        where account_id = $1
          and (import_id, line, code) > ($2::uuid, $3::bigint, $4::text)
        order by import_id, line, code
        limit $5
      ), erased as (
        update import_errors e
        set value = null, detail = 'was erased', suggestion = null, record = null
        from piece p
        where e.account_id = $1
          and e.import_id = p.import_id
          and e.line = p.line
          and e.code = p.code
          and exists (select from unnest($6::text[]) as form where position(form in p.digits) > 0)
        returning 1
      )
      select (select count(*)::int from erased) as count, (select count(*)::int from piece) as read, import_id as "importId", line, code
      from piece
      order by import_id desc, line desc, code desc
      limit 1`,
    values: [accountId, importId, line, code, errorsMax, nationals],
  })
  const [last] = rows
  const erased = { import_rows: last?.count ?? 0 }
  if (last && last.read === errorsMax) return { erased, next: JSON.stringify([last.importId, last.line, last.code]) }
  await tx.query(
    `update imports set sample = null, cells = null, further_numbers = null
     where account_id = $1 and num_nonnulls(sample, cells, further_numbers) > 0
       and (position($2 in concat_ws(' ', sample, further_numbers)) > 0 or position($2 in regexp_replace(cells::text, '[^0-9",]', '', 'g')) > 0)`,
    [accountId, number],
  )
  const { rows: running } = await tx.query<{ isRunning: boolean }>(
    `select exists (
       select from imports where account_id = $1 and status in ('queued', 'processing') and created_at < $2) as "isRunning"`,
    [accountId, until],
  )
  return { erased, next: null, isWaiting: running[0]?.isRunning ?? true }
}
