import { useCall } from '../../../api.ts'
import { MessageText } from '../../../compose/message-text.tsx'
import { SelectField, TextField } from '../../../kit/form.tsx'
import type { Change, Draft } from './draft.ts'

export function TextFields({ draft, change }: { draft: Draft; change: Change }) {
  const templates = useCall('listTemplates', { query: { limit: 200 } })
  const all = templates.data?.data ?? []
  const template = all.find(({ id, name }) => draft.template !== '' && [id, name].includes(draft.template))
  return (
    <>
      {(all.length > 0 || draft.template !== '') && (
        <SelectField
          label="Template"
          name="template"
          value={template?.name ?? draft.template}
          onChange={(name) => change({ template: name, variables: {}, language: '' })}
          options={[['', 'None (write a text)'], ...all.map(({ name }) => [name, name] as const)]}
        />
      )}
      {draft.template === '' ? (
        <MessageText
          value={draft.message}
          onChange={(message) => change({ message })}
          isSettled={draft.isSmart || draft.encoding === 'ucs2'}
        />
      ) : (
        template && (
          <fieldset className="fields">
            <legend className="small">Template values</legend>
            {template.variables.map(({ name, required }) => (
              <TextField
                key={name}
                label={name}
                name={`variables/${name}`}
                dir="auto"
                value={draft.variables[name] ?? ''}
                onChange={(value) => change({ variables: { ...draft.variables, [name]: value } })}
                hint={required ? 'Required.' : 'Optional. The template has a default.'}
              />
            ))}
            {Object.keys(template.languages).length > 0 && (
              <SelectField
                label="Language"
                name="language"
                value={draft.language}
                onChange={(language) => change({ language })}
                options={[
                  ['', `${template.language} (default)`],
                  ...Object.keys(template.languages).map((language) => [language, language] as const),
                ]}
              />
            )}
          </fieldset>
        )
      )}
    </>
  )
}
