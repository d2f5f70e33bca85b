import type { Conversation } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { usePeople } from './people.ts'

export function Assignee({ of: { id, assignee } }: { of: Conversation }) {
  const { me, others, tell } = usePeople()
  const assign = useAction('updateConversation', 'Assignee saved.')
  const options: [string, string][] = [
    ['', 'Unassigned'],
    ...(me ? [[me.id, 'Assigned to you'] as [string, string]] : []),
    ...others.map((person): [string, string] => [person.id, `Assigned to ${person.email}`]),
  ]
  const isUnknown = assignee !== null && !options.some(([value]) => value === assignee)
  return (
    <>
      {assign.problem && <Problem of={assign.problem} />}
      <FilterSelect
        label="Assignee"
        value={assignee ?? ''}
        onChange={(user) => void assign.run({ path: { conversation: id }, body: { assignee: user || null } })}
        options={isUnknown ? [...options, [assignee, `Assigned to ${tell(assignee)}`]] : options}
      />
    </>
  )
}
