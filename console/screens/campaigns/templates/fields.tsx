import type { Template } from '@heliogram/sdk'
import { Button } from '../../../kit/button.tsx'
import { TextField } from '../../../kit/form.tsx'
import { MessageField } from '../message-field.tsx'

export interface TemplateDraft {
  name: string
  body: string
  language: string
  languages: { id: number; language: string; text: string }[]
}

let lastId = 0

export const templateDraftOf = (template?: Template): TemplateDraft => ({
  name: template?.name ?? '',
  body: template?.body ?? '',
  language: template?.language ?? 'en',
  languages: Object.entries(template?.languages ?? {}).map(([language, text]) => ({ id: ++lastId, language, text })),
})

export const readTemplate = ({ name, body, language, languages }: TemplateDraft) => ({
  name: name.trim(),
  body,
  language: language.trim(),
  languages: Object.fromEntries(languages.map((one) => [one.language.trim(), one.text])),
})

interface TemplateFieldsProps {
  draft: TemplateDraft
  onChange: (change: Partial<TemplateDraft>) => void
}

export function TemplateFields({ draft, onChange }: TemplateFieldsProps) {
  const set = (id: number, change: { language?: string; text?: string }) =>
    onChange({ languages: draft.languages.map((one) => (one.id === id ? { ...one, ...change } : one)) })
  return (
    <>
      <div className="fields">
        <TextField
          label="Name"
          name="name"
          value={draft.name}
          onChange={(name) => onChange({ name })}
          hint="API calls can use it instead of the template ID."
          spellCheck={false}
          required
        />
        <TextField
          label="Language"
          name="language"
          value={draft.language}
          onChange={(language) => onChange({ language })}
          hint="Language of this text. Recipients with other languages get it too."
        />
      </div>
      <MessageField name="body" value={draft.body} onChange={(body) => onChange({ body })} />
      {draft.languages.map(({ id, language, text }, n) => (
        <div key={id} className="card">
          <div className="form">
            <TextField
              label={`Language ${n + 2}`}
              name={`languages/${language}/language`}
              placeholder="de"
              value={language}
              onChange={(next) => set(id, { language: next })}
              hint="A language code. “de” also covers “de-AT”."
            />
            <MessageField
              label={`Text in ${language || 'this language'}`}
              name={`languages/${language}`}
              value={text}
              onChange={(next) => set(id, { text: next })}
            />
            <p>
              <Button
                kind="quiet"
                onClick={() => onChange({ languages: draft.languages.filter((one) => one.id !== id) })}
              >
                Remove {language || 'this language'}
              </Button>
            </p>
          </div>
        </div>
      ))}
      <p>
        <Button onClick={() => onChange({ languages: [...draft.languages, { id: ++lastId, language: '', text: '' }] })}>
          Add language
        </Button>
      </p>
    </>
  )
}
