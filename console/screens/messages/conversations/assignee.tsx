/** Who looks after a conversation. */
import type { Conversation } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { usePeople } from './people.ts'

export function Assignee({ of: { id, assignee } }: { of: Conversation }) {
  const { me, others, tell } = usePeople()
  const assign = useAction('updateConversation', 'It is noted who looks after the conversation.')
  const options: [string, string][] = [
    ['', 'Nobody looks after it'],
    ...(me ? [[me.id, 'You look after it'] as [string, string]] : []),
    ...others.map((person): [string, string] => [person.id, `${person.email} looks after it`]),
  ]
  const isUnknown = assignee !== null && !options.some(([value]) => value === assignee)
  return (
    <>
      {assign.problem && <Problem of={assign.problem} />}
      <FilterSelect
        label="Who looks after it"
        value={assignee ?? ''}
        onChange={(user) => void assign.run({ path: { conversation: id }, body: { assignee: user || null } })}
        options={isUnknown ? [...options, [assignee, `${tell(assignee)} looks after it`]] : options}
      />
    </>
  )
}
