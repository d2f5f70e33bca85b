import { useCall } from '../../../api.ts'
import { Tabs } from '../../../kit/tabs.tsx'

export function OptOutTabs() {
  const { data } = useCall('listSuspectedOptOuts', { query: { limit: 100 } })
  const count = data?.data.length ?? 0
  const many = data?.has_more ? `${count}+` : count
  return (
    <Tabs
      label="Opt-outs"
      tabs={[
        ['/opt-outs', 'Who is out'],
        ['/opt-outs/suspected', count > 0 ? `To decide (${many})` : 'To decide'],
        ['/opt-outs/keywords', 'Keywords and answers'],
      ]}
    />
  )
}
