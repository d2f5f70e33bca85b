/** Possible assignees: the account's people if the login may read them, else only oneself. */
import { useCall } from '../../../api.ts'
import { useLogin } from '../../../session/login.ts'

interface Person {
  id: string
  email: string
}

export function usePeople(): { me: Person | undefined; others: Person[]; tell: (id: string) => string } {
  const me = useLogin()?.user
  const { data } = useCall('listUsers', { query: { limit: 200 } }, { isSide: true })
  const others = (data?.data ?? []).filter(({ id, status }) => id !== me?.id && status === 'active')
  const tell = (id: string): string =>
    id === me?.id ? 'you' : ((data?.data ?? []).find((person) => person.id === id)?.email ?? id)
  return { me, others, tell }
}
