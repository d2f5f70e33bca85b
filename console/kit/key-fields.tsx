import type { Operations } from '@heliogram/sdk'
import { Choices } from './choices.tsx'
import { SelectField, TextArea, TextField } from './form.tsx'
import { momentOf } from './moments.ts'
import { allScopes, groupScopes, usualScopes, type Scope } from './scopes.ts'
import { wordsOf } from './typed.ts'

export interface KeyDraft {
  name: string
  mode: string
  scopes: ReadonlySet<Scope>
  networks: string
  /** `year`, `never`, or the time in `endsAt`. */
  ends: string
  endsAt: string
}

export const emptyKey: KeyDraft = {
  name: '',
  mode: 'live',
  scopes: new Set(usualScopes),
  networks: '',
  ends: 'year',
  endsAt: '',
}

export function keyBodyOf(draft: KeyDraft): Operations['createApiKey']['body'] {
  return {
    name: draft.name.trim(),
    mode: draft.mode === 'test' ? 'test' : 'live',
    scopes: [...draft.scopes],
    ip_allow: wordsOf(draft.networks),
    ...(draft.ends === 'never' && { expires_at: null }),
    // Without a time the API refuses it, so that the key never gets another expiry.
    ...(draft.ends === 'at' && { expires_at: momentOf(draft.endsAt) }),
  }
}

interface KeyFieldsProps {
  draft: KeyDraft
  onChange: (draft: KeyDraft) => void
  /** Available scopes. Default: all. */
  scopes?: readonly Scope[]
}

export function KeyFields({ draft, onChange, scopes = allScopes }: KeyFieldsProps) {
  const put = (change: Partial<KeyDraft>) => onChange({ ...draft, ...change })
  return (
    <>
      <TextField
        label="Name"
        name="name"
        value={draft.name}
        onChange={(name) => put({ name })}
        hint="The program that it is for: one key for each."
        required
      />
      <Choices
        label="Scopes"
        name="scopes"
        hint="What it may do: only what the program needs. Nobody makes a key that may do more than they."
        groups={groupScopes(scopes)}
        chosen={draft.scopes}
        onChange={(chosen) => put({ scopes: chosen })}
      />
      <div className="fields">
        <SelectField
          label="Mode"
          name="mode"
          value={draft.mode}
          onChange={(mode) => put({ mode })}
          options={[
            ['live', 'live'],
            ['test', 'test: reaches simulated phones only'],
          ]}
        />
        <SelectField
          label="Ends"
          name={draft.ends === 'at' ? 'ends' : 'expires_at'}
          value={draft.ends}
          onChange={(ends) => put({ ends })}
          options={[
            ['year', 'in a year'],
            ['never', 'never'],
            ['at', 'at a time …'],
          ]}
        />
        {draft.ends === 'at' && (
          <TextField
            label="Ends at"
            name="expires_at"
            type="datetime-local"
            value={draft.endsAt}
            onChange={(endsAt) => put({ endsAt })}
          />
        )}
      </div>
      <TextArea
        label="Networks"
        name="ip_allow"
        rows={2}
        placeholder="192.0.2.7, 2001:db8::/32"
        value={draft.networks}
        onChange={(networks) => put({ networks })}
        hint="Addresses and networks from which the key works; none: from everywhere."
        spellCheck={false}
      />
    </>
  )
}
