/** Puts the text of a template into a reply, with what the contact has for its fields. */
import type { Conversation, Template } from '@heliogram/sdk'
import { useState } from 'react'
import { heliogram, useCall } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { Problem } from '../../../kit/problem.tsx'

interface InsertProps {
  into: Conversation
  onInsert: (text: string) => void
}

export function InsertTemplate({ into: { campaign, contact: id }, onInsert }: InsertProps) {
  const [problem, setProblem] = useState<Error>()
  const templates = useCall('listTemplates', { query: { limit: 100 } }, { isSide: true }).data?.data ?? []
  const isKnown = campaign !== null && id !== null
  const contact = useCall(
    'getContact',
    { path: { campaign: campaign ?? '', contact: id ?? '' } },
    { enabled: isKnown, isSide: true },
  ).data
  if (templates.length === 0) return null
  const insert = async (template: Template) => {
    setProblem(undefined)
    const { first_name = null, last_name = null, language = null, attributes = {} } = (isKnown && contact) || {}
    const body = {
      template: template.id,
      variables: { ...attributes, first_name, last_name },
      ...(language !== null && { language }),
    }
    await heliogram.call('previewMessage', { body }).then(({ message }) => onInsert(message), setProblem)
  }
  return (
    <>
      <FilterSelect
        label="Insert a template"
        value=""
        onChange={(chosen) => {
          const template = templates.find((one) => one.id === chosen)
          if (template) void insert(template)
        }}
        options={[['', 'Insert a template …'], ...templates.map(({ id: value, name }) => [value, name] as const)]}
      />
      {problem && <Problem of={problem} />}
    </>
  )
}
