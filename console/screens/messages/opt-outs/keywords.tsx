import { useSearchParams } from 'wouter'
import { useCall } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { KeywordsForm } from './keywords-form.tsx'

export function KeywordsScreen() {
  const [params, setParams] = useSearchParams()
  const campaign = params.get('campaign') ?? ''
  const campaigns = useCall('listCampaigns', { query: { limit: 200 } })
  return (
    <Page title="Keywords" lead="The replies that opt out, opt in or ask for help, and what is sent back.">
      <div className="filters">
        <FilterSelect
          label="Keywords of"
          value={campaign}
          onChange={(id) => setParams(id === '' ? {} : { campaign: id })}
          options={[
            ['', 'Account'],
            ...(campaigns.data?.data ?? []).map(({ id, name }) => [id, `Campaign: ${name}`] as const),
          ]}
        />
      </div>
      <OneSet key={campaign} campaign={campaign} />
    </Page>
  )
}

function OneSet({ campaign }: { campaign: string }) {
  const query = campaign === '' ? {} : { campaign }
  const call = useCall('getKeywords', { query })
  return <Loaded call={call}>{(keywords) => <KeywordsForm keywords={keywords} query={query} />}</Loaded>
}
