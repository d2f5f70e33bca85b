/** The state of an import. */
import { Badge } from '../../../kit/show.tsx'

/** Some bad rows are a warning, not a failure. */
export const ImportBadge = ({ status }: { status: string }) => {
  if (status === 'completed_with_errors') return <Badge status={status} tone="warning" />
  if (status === 'processing') return <Badge status={status} tone="busy" />
  return <Badge status={status} />
}
