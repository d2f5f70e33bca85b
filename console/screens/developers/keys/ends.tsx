import type { ApiKey } from '@heliogram/sdk'
import { Badge, Time } from '../../../kit/show.tsx'

export function Ends({ of: { expires_at } }: { of: ApiKey }) {
  if (expires_at === null) return <>never</>
  return Date.parse(expires_at) < Date.now() ? <Badge status="expired" /> : <Time at={expires_at} />
}
