/** Whether a statement names its account. It matches words, not SQL: people must look at what it reports. */

const keywords = new Set(
  'where set on join left inner cross natural order group limit for using returning values default and union offset having window'.split(
    ' ',
  ),
)

/** Tables of accounts that a statement names without an account; sorted and distinct. */
export function unscopedTables(statement: string, tables: ReadonlySet<string>): string[] {
  const text = statement.replace(/--.*$/gm, '').replace(/\s+/g, ' ').toLowerCase()
  // Output columns are not conditions.
  const conditions = text.replace(/(?:\w+\.)?account_id as "\w+"/g, '').replace(/ returning .*?(?=\)|$)/g, '')
  const found = [...text.matchAll(/\b(?:from|join|update|into|using) (?:only )?(\w+)(?: (?:as )?(\w+))?/g)].filter(
    ([, name = '', alias = '']) => {
      const table = tableOf(name, tables)
      if (table === null || new RegExp(`\\b${name} (?:\\([^)]*\\) )?as (?:not )?(?:materialized )?\\(`).test(text))
        return false
      const by = keywords.has(alias) || alias === '' ? name : alias
      const column = table === 'accounts' ? 'id' : 'account_id'
      const own = `(?:\\b${by}\\.|(?<![.\\w]))${column}\\b`
      // Compared, joined, part of a compared row, or inserted.
      return ![
        `${own} ?=`,
        `= ?${own}`,
        `using \\([^)]*${own}`,
        `\\([^()]*${own}[^()]*\\) (?:=|in|select|values)`,
      ].some((form) => new RegExp(form).test(conditions))
    },
  )
  return [...new Set(found.map(([, name = '']) => tableOf(name, tables) ?? name))].sort()
}

/** The table of a name, which may be a day's partition. */
function tableOf(name: string, tables: ReadonlySet<string>): string | null {
  const table = name.replace(/_(?:p?\d{8}|default)$/, '')
  return tables.has(table) ? table : null
}

/** Statements on tables of accounts for all accounts, with reasons. */
const exemptions: { statement: RegExp; reason: string }[] = [
  { statement: /from accounts where parent_id = \$1 /, reason: 'lists the accounts below that of the caller' },
  {
    statement: /from accounts where (?:settings \? 'guards'|quiet_hours is not null)/,
    reason: 'the process reads again what all accounts say of guards and quiet hours; no caller sees it',
  },
  {
    statement: /from webhooks, unnest\(events\) as pattern where enabled and pattern <> all \(\$1/,
    reason: 'likewise which events all accounts want',
  },
  {
    statement: /from audit_chains where changed_in >= \$1/,
    reason: 'the process asks which accounts have changed what it keeps of them; no caller sees it',
  },
  {
    statement: /from links l join carriers c |with counted as \( select lane_id, /,
    reason: 'the summary shows links and the queue of the installation to callers with carriers:read',
  },
]

export const isExempt = (statement: string): boolean =>
  exemptions.some((one) => one.statement.test(statement.replace(/\s+/g, ' ')))
