import type { Operations } from '@heliogram/sdk'
import { Choices } from './choices.tsx'
import { Fold } from './fold.tsx'
import { SelectField, TextArea, TextField } from './form.tsx'
import { momentOf } from './moments.ts'
import { allScopes, groupScopes, presetsOf, usualScopes, type Scope } from './scopes.ts'
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
        hint="Use one key per server or program."
        autoFocus
        required
      />
      <Presets scopes={scopes} chosen={draft.scopes} onChange={(chosen) => put({ scopes: chosen })} />
      <div className="fields">
        <SelectField
          label="Mode"
          name="mode"
          value={draft.mode}
          onChange={(mode) => put({ mode })}
          options={[
            ['live', 'Live'],
            ['test', 'Test (simulated phones only)'],
          ]}
        />
        <SelectField
          label="Expires"
          name={draft.ends === 'at' ? 'ends' : 'expires_at'}
          value={draft.ends}
          onChange={(ends) => put({ ends })}
          options={[
            ['year', 'in 1 year'],
            ['never', 'never'],
            ['at', 'on a date …'],
          ]}
        />
        {draft.ends === 'at' && (
          <TextField
            label="Expires on"
            name="expires_at"
            type="datetime-local"
            value={draft.endsAt}
            onChange={(endsAt) => put({ endsAt })}
          />
        )}
      </div>
      <TextArea
        label="Allowed networks"
        name="ip_allow"
        rows={2}
        placeholder="192.0.2.7, 2001:db8::/32"
        value={draft.networks}
        onChange={(networks) => put({ networks })}
        hint="IP addresses and networks that may use the key. Leave empty to allow all."
        spellCheck={false}
      />
    </>
  )
}

/** The usual sets of scopes, and every scope behind "Customize". */
function Presets({
  scopes,
  chosen,
  onChange,
}: {
  scopes: readonly Scope[]
  chosen: ReadonlySet<Scope>
  onChange: (chosen: ReadonlySet<Scope>) => void
}) {
  const presets = presetsOf(scopes)
  const current = presets.find(
    (one) => one.scopes.length === chosen.size && one.scopes.every((scope) => chosen.has(scope)),
  )
  return (
    <div>
      <fieldset className="presets">
        <legend>Access</legend>
        {presets.map((one) => (
          <label key={one.title} className="preset">
            <input
              type="radio"
              name="preset"
              checked={one === current}
              onChange={() => onChange(new Set(one.scopes))}
            />
            <span>
              <strong>{one.title}</strong>
              <span className="hint">{one.about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Fold title={`Customize${current ? '' : `: ${chosen.size} of ${scopes.length} scopes`}`}>
        <Choices
          label="Scopes"
          name="scopes"
          hint="You can’t grant more access than you have."
          groups={groupScopes(scopes)}
          chosen={chosen}
          onChange={onChange}
        />
      </Fold>
    </div>
  )
}
