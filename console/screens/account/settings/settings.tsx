/** The account's settings and the defaults behind them. */
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Facts, formatNumber } from '../../../kit/show.tsx'
import { AccountGroup } from './account.tsx'
import { GuardsGroup } from './guards.tsx'
import type { Settings } from './group.tsx'
import { KeysGroup } from './keys.tsx'
import { QuietHoursGroup } from './quiet-hours.tsx'
import { RetentionGroup } from './retention.tsx'
import { CountriesGroup } from './countries.tsx'

export function SettingsScreen() {
  const settings = useCall('getSettings', {})
  return (
    <Page title="Settings" lead="Of the whole account. Each change is in the audit log, with what was before.">
      <Loaded call={settings}>
        {(all) => (
          <div className="settings">
            <AccountGroup of={all} />
            <QuietHoursGroup of={all} />
            <GuardsGroup of={all} />
            <CountriesGroup of={all} />
            <RetentionGroup of={all} />
            <KeysGroup of={all} />
            <Given of={all} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

const perSecond = (value: number | null): string => (value === null ? 'no limit' : `${formatNumber(value)} a second`)

const Given = ({ of: { account, mode, limits, webhooks, server_version, api_version } }: { of: Settings }) => (
  <section className="card" aria-label="What is given">
    <h2>What is given</h2>
    <Facts
      facts={[
        ['Account', account.id],
        ['Mode', mode],
        ['Requests', perSecond(limits.api_per_second)],
        ['Segments', perSecond(limits.segments_per_second)],
        ['A batch', `${formatNumber(limits.max_batch)} messages at most`],
        ['An import', `${formatNumber(limits.max_import_rows)} rows at most`],
        ['Waiting', limits.max_queue_seconds && `${formatNumber(limits.max_queue_seconds)} seconds of sending at most`],
        [
          'Webhooks',
          <Link key="webhooks" href="/webhooks">
            {webhooks.endpoints}, of which {webhooks.failing} fail and {webhooks.disabled} are disabled
          </Link>,
        ],
        [
          'Keywords',
          <Link key="keywords" href="/opt-outs">
            with the opt-outs
          </Link>,
        ],
        ['Version', `${server_version}, API ${api_version}`],
      ]}
    />
  </section>
)
