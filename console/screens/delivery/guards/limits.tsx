/** Limits of the guards, and how much of the day's is used. */
import { useCall } from '../../../api.ts'
import { Loaded } from '../../../kit/page.tsx'
import { Facts, formatNumber, tellCount, Time } from '../../../kit/show.tsx'

const off = <span className="none">off</span>

export function LimitFacts() {
  const settings = useCall('getSettings', {}, { every: 10_000 })
  return (
    <Loaded call={settings}>
      {({ limits, spend, country_limits, allowed_countries, velocity, dedupe_window, approval, timezone }) => (
        <Facts
          facts={[
            [
              'Segments per day',
              limits.daily_segments === null
                ? off
                : `${formatNumber(limits.segments_today ?? 0)} of ${formatNumber(limits.daily_segments)} used`,
            ],
            [
              'Spend per day',
              spend.daily_limit === null ? (
                off
              ) : (
                <>
                  {spend.spent_today ?? '0'} of {spend.daily_limit} {spend.currency} used, resets{' '}
                  <Time at={spend.resets_at} />
                </>
              ),
            ],
            ['Allowed countries', allowed_countries.includes('*') ? off : allowed_countries.join(', ') || 'none'],
            [
              'Per hour to a country',
              country_limits.length === 0
                ? off
                : country_limits
                    .map(
                      ({ country, per_hour, action }) =>
                        `${country} ${formatNumber(per_hour)}${action === 'alert' ? ' (alert only)' : ''}`,
                    )
                    .join(', '),
            ],
            [
              'Per hour to sequential numbers',
              velocity.per_prefix_per_hour === null ? off : formatNumber(velocity.per_prefix_per_hour),
            ],
            ['Duplicate text', dedupe_window === 0 ? off : `blocked for ${formatNumber(dedupe_window)} seconds`],
            [
              'Broadcast approval',
              approval.recipients_above === null ? off : `above ${tellCount(approval.recipients_above, 'recipient')}`,
            ],
            ['Time zone', timezone],
          ]}
        />
      )}
    </Loaded>
  )
}
