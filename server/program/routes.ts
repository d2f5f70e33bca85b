/** Every route of the API: the one list, for the process that serves it and for the script that describes it. */
import { auditRoutes } from '../audit-log/audit-http.ts'
import { accountRoutes } from '../accounts/http.ts'
import type { AccountsContext } from '../accounts/context.ts'
import { refreshCaches, type Caches } from './caches.ts'
import { campaignRoutes, type CampaignsContext } from '../campaigns/http.ts'
import { broadcastRoutes } from '../broadcasts/http.ts'
import type { BroadcastsContext } from '../broadcasts/context.ts'
import { contactRoutes, type ContactsContext } from '../contacts/http.ts'
import { importRoutes } from '../imports/http.ts'
import type { ImportsContext } from '../imports/context.ts'
import { templatePreviewRoute } from '../contacts/template-preview-http.ts'
import { alertRoutes } from '../live/alerts-http.ts'
import { doctorRoutes } from '../doctor/http.ts'
import { carrierRoutes, type CarriersContext } from '../carriers/http.ts'
import { inboundRoutes, type InboundContext } from '../http-carriers/inbound-http.ts'
import { linkRoutes } from '../carriers/links-http.ts'
import { liveRoutes } from '../live/http.ts'
import { mappingRoutes } from '../mappings/http.ts'
import { poolRoutes } from '../senders/pool-http.ts'
import { rateRoutes } from '../rates/http.ts'
import { receiptRoutes } from '../doctor/receipts-http.ts'
import { routeRoutes } from '../routes/http.ts'
import { routeTestRoutes } from '../routes/test-http.ts'
import { senderRoutes } from '../senders/http.ts'
import { setDefaultSender } from '../senders/store.ts'
import { deprecationRoutes } from './deprecations-http.ts'
import type { DeprecatedCalls } from './deprecations.ts'
import type { App } from '../ground/http/http.ts'
import { consentRoutes } from '../opt-outs/consent-http.ts'
import { erasureRoutes } from '../privacy/erase-http.ts'
import { conversationRoutes } from '../conversations/http.ts'
import { explainRoutes } from '../messages/explain-http.ts'
import { endStopsOf, guardRoutes } from '../guards/http.ts'
import { forgetUsed, readUsed } from '../guards/windows.ts'
import { messageRoutes } from '../messages/http.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { resendRoutes } from '../messages/resend-http.ts'
import { redactRoutes } from '../privacy/redact-http.ts'
import { templateRoutes } from '../templates/http.ts'
import { usageRoutes } from '../usage/usage-http.ts'
import { keywordRoutes } from '../opt-outs/keyword-http.ts'
import { showOptOutSettings } from '../opt-outs/keyword-settings.ts'
import { orphanRoutes } from '../inbound/orphans-http.ts'
import { optOutRoutes } from '../opt-outs/http.ts'
import { optOutListRoutes } from '../opt-outs/list-http.ts'
import type { MessagesContext } from '../accept/send.ts'
import { shortLinkRoutes, type ShortLinksContext } from '../short-links/http.ts'
import { metricsRoute, type MetricsRouteContext } from './metrics-http.ts'
import { smppCredentialRoutes } from '../smpp-server/http.ts'
import { guardTestKeys } from './test-keys.ts'
import { openTwilioAuthenticator } from '../twilio/credential.ts'
import { twilioCredentialRoutes } from '../twilio/credential-http.ts'
import { twilioRoutes } from '../twilio/http.ts'
import { deliveryRoutes } from '../webhooks/deliveries-http.ts'
import { eventRoutes } from '../webhooks/events-http.ts'
import type { EventsContext } from '../webhooks/events-context.ts'
import { webhookRoutes } from '../webhooks/http.ts'
import { replayRoutes } from '../webhooks/replay-http.ts'

/** What all slices together need. */
export type RoutesContext = Omit<AccountsContext, 'settings'> &
  MessagesContext &
  ShortLinksContext &
  CampaignsContext &
  ContactsContext &
  ImportsContext &
  BroadcastsContext &
  CarriersContext &
  EventsContext &
  InboundContext &
  MetricsRouteContext & {
    apiPerSecond?: number
    deprecatedCalls?: DeprecatedCalls
    caches: Caches
  }

/** Registers the routes of every slice. */
export async function registerRoutes(app: App, context: RoutesContext): Promise<void> {
  const endStops = endStopsOf(context.subscriptions)
  const { version, apiPerSecond = 100 } = context
  const encryptsContent = context.texts?.isSealing ?? false
  const settings = {
    version,
    apiPerSecond,
    encryptsContent,
    optOut: showOptOutSettings,
    setDefaultSender,
    isCountry,
    endStops,
    readUsed,
    forgetUsed,
  }
  guardTestKeys(app, context.db)
  refreshCaches(app, () => context.caches)
  await accountRoutes(app, { ...context, settings })
  auditRoutes(app, context)
  messageRoutes(app, context)
  conversationRoutes(app, context)
  explainRoutes(app, context)
  guardRoutes(app, context)
  shortLinkRoutes(app, context)
  resendRoutes(app, context)
  redactRoutes(app, context)
  erasureRoutes(app, context)
  optOutRoutes(app, context)
  orphanRoutes(app, context)
  optOutListRoutes(app, context)
  keywordRoutes(app, context)
  consentRoutes(app, context)
  usageRoutes(app, context)
  carrierRoutes(app, context)
  linkRoutes(app, context)
  liveRoutes(app, context)
  alertRoutes(app, context)
  inboundRoutes(app, context)
  mappingRoutes(app, context)
  rateRoutes(app, context)
  doctorRoutes(app, context)
  receiptRoutes(app, context)
  senderRoutes(app, context)
  poolRoutes(app, context)
  routeRoutes(app, context)
  routeTestRoutes(app, context)
  campaignRoutes(app, context)
  contactRoutes(app, context)
  importRoutes(app, context)
  broadcastRoutes(app, context)
  templateRoutes(app, context)
  templatePreviewRoute(app, context)
  smppCredentialRoutes(app, context)
  const callers = openTwilioAuthenticator(context.db)
  twilioCredentialRoutes(app, { ...context, callers })
  await twilioRoutes(app, { ...context, callers })
  webhookRoutes(app, context)
  deliveryRoutes(app, context)
  replayRoutes(app, context)
  eventRoutes(app, context)
  deprecationRoutes(app, context)
  metricsRoute(app, context)
}
