/** A carrier setting as a field: name, description, input. */

/** By setting name. A check is `true` or `false`. */
export type Draft = Readonly<Record<string, string>>

export interface FieldSpec {
  name: string
  label: string
  hint?: string
  /** Default `text`. `json`: an object or list; `long`: several lines. */
  kind?: 'text' | 'number' | 'check' | 'json' | 'long' | 'secret'
  options?: readonly (readonly [string, string])[]
  initial?: string
  isOptional?: boolean
}

export interface FieldGroup {
  title: string | null
  fields: readonly FieldSpec[]
}

export const initialDraft = (fields: readonly FieldSpec[]): Draft =>
  Object.fromEntries(fields.map(({ name, kind, initial }) => [name, initial ?? (kind === 'check' ? 'false' : '')]))

export function draftOf(fields: readonly FieldSpec[], settings: Readonly<Record<string, unknown>>): Draft {
  return Object.fromEntries(fields.map((field) => [field.name, write(field, settings[field.name])]))
}

function write({ kind }: FieldSpec, value: unknown): string {
  if (value === undefined || value === null) return kind === 'check' ? 'false' : ''
  if (kind === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** In the API's form. Invalid numbers and JSON stay text, so that the API's fault is shown beside the field. */
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

export const readAll = (fields: readonly FieldSpec[], draft: Draft): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const text = draft[field.name] ?? ''
      return text === '' ? [] : [[field.name, read(field, text)]]
    }),
  )

/** Null for an emptied field. */
export const readChanges = (fields: readonly FieldSpec[], before: Draft, now: Draft): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const text = now[field.name] ?? ''
      if (text === (before[field.name] ?? '')) return []
      return [[field.name, text === '' ? null : read(field, text)]]
    }),
  )
