/** The account's settings and the defaults behind them. */
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Facts, formatNumber } from '../../../kit/show.tsx'
import { AccountGroup } from './account.tsx'
import { GuardsGroup } from './guards.tsx'
import { anchorOf, type Settings } from './group.tsx'
import { KeysGroup } from './keys.tsx'
import { QuietHoursGroup } from './quiet-hours.tsx'
import { RetentionGroup } from './retention.tsx'
import { CountriesGroup } from './countries.tsx'

const groups = [
  'Account and defaults',
  'Quiet hours',
  'Guards',
  'Countries',
  'Data retention',
  'Callback secret',
  'Encryption',
  'Limits',
]

export function SettingsScreen() {
  const settings = useCall('getSettings', {})
  return (
    <Page title="Settings" lead="For the whole account. The audit log records each change.">
      <Loaded call={settings}>
        {(all) => (
          <div className="settings">
            <nav aria-label="Settings of the account" className="anchors">
              {groups.map((title) => (
                <a key={title} href={`#${anchorOf(title)}`}>
                  {title}
                </a>
              ))}
            </nav>
            <div>
              <AccountGroup of={all} />
              <QuietHoursGroup of={all} />
              <GuardsGroup of={all} />
              <CountriesGroup of={all} />
              <RetentionGroup of={all} />
              <KeysGroup of={all} />
              <Limits of={all} />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

const perSecond = (value: number | null): string => (value === null ? 'no limit' : `${formatNumber(value)} per second`)

const Limits = ({ of: { account, mode, limits, webhooks, server_version, api_version } }: { of: Settings }) => (
  <section className="card" aria-label="Limits" id="limits">
    <h2>Limits</h2>
    <Facts
      facts={[
        ['Account ID', account.id],
        ['Mode', mode],
        ['Requests', perSecond(limits.api_per_second)],
        ['Segments', perSecond(limits.segments_per_second)],
        ['Messages per batch', formatNumber(limits.max_batch)],
        ['Rows per import', formatNumber(limits.max_import_rows)],
        ['Queue', limits.max_queue_seconds && `${formatNumber(limits.max_queue_seconds)} seconds of sending`],
        [
          'Webhooks',
          <Link key="webhooks" href="/webhooks">
            {webhooks.endpoints} ({webhooks.failing} failing, {webhooks.disabled} disabled)
          </Link>,
        ],
        [
          'Keywords',
          <Link key="keywords" href="/opt-outs">
            View in opt-outs
          </Link>,
        ],
        ['Version', `${server_version}, API ${api_version}`],
      ]}
    />
  </section>
)
