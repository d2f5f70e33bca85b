import { useCall } from '../../../api.ts'
import { useLogin } from '../../../session/login.ts'

/** The user or the API key of an id; only its kind without the permission to read it. */
export function Who({ id }: { id: string }) {
  const isUser = id.startsWith('usr_')
  const isOneself = useLogin()?.user.id === id
  const user = useCall('getUser', { path: { id } }, { isSide: true, enabled: isUser && !isOneself })
  const key = useCall('getApiKey', { path: { id } }, { isSide: true, enabled: !isUser })
  if (isOneself) return <>you</>
  if (isUser) return <>{user.data?.email ?? 'another user'}</>
  return <>{key.data ? `API key “${key.data.name}”` : 'an API key'}</>
}
