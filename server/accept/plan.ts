/** Before the accept statement: the route of each draft, and room at a link of this process. */
import { now } from '../ground/db/clock.ts'
import { newId } from '../ground/base/ids.ts'
import type { Draft, Planned } from '../message/draft.ts'
import type { OwnLinks } from '../message/handover.ts'
import { quietWarning, type QuietHours } from '../quiet-hours/quiet-hours.ts'
import { estimateAt, isOver } from '../message/price.ts'
import type { Guards } from '../guards/guards.ts'
import { isPremium } from '../ground/numbers/type.ts'
import type { Routing } from '../message/routing.ts'

interface PlanContext {
  ownLinks: OwnLinks
  routing: Routing
  quietHours: QuietHours
  guards: Pick<Guards, 'of'>
}

/** Chooses sender and carriers of each draft, and the end of the quiet hours that delay it. */
export async function planDrafts(
  { ownLinks, routing, quietHours, guards }: PlanContext,
  drafts: Draft[],
): Promise<Planned[]> {
  // Taken before the ids: filters by time use the id, whose time is never before that of the message.
  const at = now()
  const ids = drafts.map(() => newId())
  const routes = await routing.plan(
    drafts.map((draft, i) => ({
      messageId: ids[i] ?? '',
      accountId: draft.accountId,
      to: draft.theirNumber,
      from: draft.sender,
      poolId: draft.poolId,
      campaignId: draft.campaignId,
      campaignKey: draft.campaignKey,
      type: draft.type,
      segments: draft.segments,
      isTest: draft.isTest,
    })),
  )
  const opens = await quietHours.plan(drafts, (i) => routes[i]?.message.type)
  return drafts.flatMap((plain, i): Planned | [] => {
    const [id, way] = [ids[i], routes[i]]
    if (!id || !way) return []
    const isOpen = way.refusal === null || way.refusal === 'no_route_available'
    const isPaid = isOpen && isPremium(plain.theirNumber) && guards.of(plain.accountId)?.allowsPremium !== true
    const route = isPaid ? { ...way, refusal: 'premium_number_not_allowed' as const } : way
    const text = plain.written && route.message.type === 'otp' ? { ...plain, ...plain.written } : plain
    const draft = opens[i] ? { ...text, warnings: [...(text.warnings ?? []), quietWarning(opens[i])] } : text
    const carrierId = ownLinks.preferUp(route.choice.chain) ?? null
    const estimate = estimateAt(route.choice, carrierId, draft.segments)
    return {
      draft,
      at,
      id,
      route,
      opensAt: opens[i] ?? null,
      carrierId,
      estimate,
      isOver: isOver(estimate, draft.maxPrice),
      link: null,
      stop: null,
      waitSeconds: null,
    }
  })
}

/** Null if no link of this process has room, or if the draft is not to go now. */
export function reserveLink(ownLinks: OwnLinks, { draft, route, opensAt, carrierId, isOver }: Planned): string | null {
  if (draft.sendAt || opensAt || route.refusal || isOver || route.choice.isHeld || carrierId === null) return null
  return ownLinks.reserve(draft.segments, route.message.type, carrierId, draft.accountId)
}
