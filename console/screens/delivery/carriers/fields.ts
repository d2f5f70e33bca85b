/** A setting of a carrier as a field: what it is called, what the API says of it, how it is filled in. */

/** What is filled in, by the name of a setting. A check is `true` or `false`. */
export type Draft = Readonly<Record<string, string>>

export interface FieldSpec {
  /** As the API calls it. */
  name: string
  label: string
  hint?: string
  /** `text` by default. `json`: a value with members; `long`: several lines. */
  kind?: 'text' | 'number' | 'check' | 'json' | 'long' | 'secret'
  /** Values with what they are called, where it is one of a few. */
  options?: readonly (readonly [string, string])[]
  /** What a new carrier begins with. */
  initial?: string
  /** It may be absent. */
  isOptional?: boolean
}

export interface FieldGroup {
  /** None: these are always shown. */
  title: string | null
  fields: readonly FieldSpec[]
}

/** What fields begin with where there is no carrier yet. */
export const initialDraft = (fields: readonly FieldSpec[]): Draft =>
  Object.fromEntries(fields.map(({ name, kind, initial }) => [name, initial ?? (kind === 'check' ? 'false' : '')]))

/** What fields begin with where there are settings. */
export function draftOf(fields: readonly FieldSpec[], settings: Readonly<Record<string, unknown>>): Draft {
  return Object.fromEntries(fields.map((field) => [field.name, write(field, settings[field.name])]))
}

function write({ kind }: FieldSpec, value: unknown): string {
  if (value === undefined || value === null) return kind === 'check' ? 'false' : ''
  if (kind === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What is filled in, as the API takes it. What is no number or no JSON stays text: the API says so beside the field. */
function read({ kind }: FieldSpec, text: string): unknown {
  if (kind === 'check') return text === 'true'
  if (kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text)
  if (kind !== 'json') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Everything that is filled in. */
export const readAll = (fields: readonly FieldSpec[], draft: Draft): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const text = draft[field.name] ?? ''
      return text === '' ? [] : [[field.name, read(field, text)]]
    }),
  )

/** What differs from what there was; null where it was emptied. */
export const readChanges = (fields: readonly FieldSpec[], before: Draft, now: Draft): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const text = now[field.name] ?? ''
      if (text === (before[field.name] ?? '')) return []
      return [[field.name, text === '' ? null : read(field, text)]]
    }),
  )
