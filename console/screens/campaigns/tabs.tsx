import { Tabs } from '../../kit/tabs.tsx'

export const CampaignTabs = () => (
  <Tabs
    label="Campaigns and broadcasts"
    tabs={[
      ['/campaigns', 'Campaigns'],
      ['/broadcasts', 'Broadcasts'],
    ]}
  />
)
