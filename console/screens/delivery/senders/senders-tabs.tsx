import { Tabs } from '../../../kit/tabs.tsx'

export const SendersTabs = ({ current }: { current: string }) => (
  <Tabs
    label="Senders and pools"
    current={current}
    tabs={[
      ['/senders', 'Senders'],
      ['/senders/pools', 'Pools'],
    ]}
  />
)
