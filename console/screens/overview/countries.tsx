import { Link } from 'wouter'
import { tellCountry } from '../../kit/country.ts'
import { formatShare } from '../../kit/format.ts'
import { Section } from '../../kit/page.tsx'
import { RankedBars } from '../../kit/pictures.tsx'
import type { Day } from './today.ts'

const shownMax = 6

/** Those with most messages today, with the share that was delivered of those with an end. */
export function Countries({ day: { countries } }: { day: Day }) {
  const shown = countries.filter(({ messages }) => messages > 0).slice(0, shownMax)
  if (shown.length === 0) return null
  return (
    <Section title="Delivery rate by country" actions={<Link href="/usage?group=country">Usage by country</Link>}>
      <RankedBars
        label="Delivery rate by country, today"
        rows={shown.map(({ country, messages, delivered, failed }) => ({
          key: country ?? '',
          name: country ? tellCountry(country) : 'Unknown country',
          value: messages,
          colour: 'delivered',
          note: formatShare(delivered, delivered + failed),
        }))}
      />
      <p className="small country-note">Messages today, and the share delivered.</p>
    </Section>
  )
}
