/** What applies to a broadcast if its own fields are empty: from the campaign, the account, or the links. */
import type { Campaign } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { senderValue } from '../../../compose/sender.tsx'
import { tellNumber } from '../../../kit/number.ts'
import { typeOfBroadcast, type SendDraft } from './draft.ts'

interface DefaultsProps {
  campaign: Campaign
  draft: SendDraft
}

export function Sender({ campaign, draft }: DefaultsProps) {
  const senders = useCall('listSenders', { query: { limit: 200 } }, { isSide: true })
  const pools = useCall('listSenderPools', { query: { limit: 200 } }, { isSide: true })
  const chosen = draft.sender || senderValue(campaign.from, campaign.sender_pool)
  if (chosen.startsWith('pool:')) {
    const id = chosen.slice('pool:'.length)
    return <>Pool {pools.data?.data.find((pool) => pool.id === id)?.name ?? id}</>
  }
  if (chosen !== '') return <>{tellNumber(chosen.slice('from:'.length))}</>
  const usual = senders.data?.data.find((sender) => sender.default)
  return (
    <>{usual ? `${tellNumber(usual.number)}, your default sender` : 'The carrier’s own number: you have no sender'}</>
  )
}

export function QuietHours({ campaign, draft }: DefaultsProps) {
  const settings = useCall('getSettings', {}, { isSide: true })
  const type = typeOfBroadcast(campaign, draft)
  const hours = { ...settings.data?.quiet_hours, ...campaign.quiet_hours }
  if (type === 'otp' || hours.enabled === false || hours.applies_to?.includes(type) === false) return <>Off</>
  if (!hours.start || !hours.end) return <>As the account’s settings say</>
  return (
    <>
      Held from {hours.start} to {hours.end} in each recipient’s time zone
    </>
  )
}

/** Segments a second: the broadcast's own limit, the campaign's, or what the bound links do; null if unknown. */
export function usePace({ pace }: Campaign, { maxRate }: SendDraft): number | null {
  const carriers = useCall('listCarriers', {}, { isSide: true, enabled: maxRate === '' && pace === null })
  if (maxRate !== '') return Number(maxRate) / 60 || null
  if (pace !== null) return pace
  const links = carriers.data?.data.flatMap((carrier) => carrier.links) ?? []
  return links.reduce((all, link) => all + (link.state === 'bound' ? link.pace : 0), 0) || null
}
