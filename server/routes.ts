/** Every route of the API: the one list, for the process that serves it and for the script that describes it. */
import { auditRoutes } from './accounts/audit-http.ts'
import { accountRoutes } from './accounts/http.ts'
import type { AccountsContext } from './accounts/context.ts'
import { refreshCaches, type Caches } from './caches.ts'
import { campaignRoutes, type CampaignsContext } from './campaigns/http.ts'
import { broadcastRoutes } from './campaigns/broadcasts/http.ts'
import type { BroadcastsContext } from './campaigns/broadcasts/context.ts'
import { contactRoutes, type ContactsContext } from './campaigns/contacts/http.ts'
import { importRoutes } from './campaigns/imports/http.ts'
import type { ImportsContext } from './campaigns/imports/context.ts'
import { templatePreviewRoute } from './campaigns/template-preview-http.ts'
import { alertRoutes } from './carriers/live/alerts-http.ts'
import { doctorRoutes } from './carriers/doctor/http.ts'
import { carrierRoutes, type CarriersContext } from './carriers/http.ts'
import { inboundRoutes, type InboundContext } from './carriers/http-carriers/inbound-http.ts'
import { linkRoutes } from './carriers/links/http.ts'
import { liveRoutes } from './carriers/live/http.ts'
import { mappingRoutes } from './carriers/mappings/http.ts'
import { poolRoutes } from './carriers/senders/pool-http.ts'
import { rateRoutes } from './carriers/rates/http.ts'
import { receiptRoutes } from './carriers/doctor/receipts-http.ts'
import { routeRoutes } from './carriers/routes/http.ts'
import { routeTestRoutes } from './carriers/routes/test-http.ts'
import { senderRoutes } from './carriers/senders/http.ts'
import { setDefaultSender } from './carriers/senders/store.ts'
import { deprecationRoutes } from './deprecations-http.ts'
import type { DeprecatedCalls } from './deprecations.ts'
import type { App } from './http.ts'
import { consentRoutes } from './messages/opt-outs/consent-http.ts'
import { erasureRoutes } from './messages/forgetting/erase-http.ts'
import { conversationRoutes } from './messages/conversations/http.ts'
import { explainRoutes } from './messages/explain-http.ts'
import { endStopsOf, guardRoutes } from './messages/guards/http.ts'
import { forgetUsed, readUsed } from './messages/guards/windows.ts'
import { messageRoutes } from './messages/http.ts'
import { isCountry } from './messages/numbers/number.ts'
import { resendRoutes } from './messages/ledger/resend-http.ts'
import { redactRoutes } from './messages/forgetting/redact-http.ts'
import { templateRoutes } from './messages/templates/http.ts'
import { usageRoutes } from './messages/usage-http.ts'
import { keywordRoutes } from './messages/opt-outs/keyword-http.ts'
import { showOptOutSettings } from './messages/opt-outs/keyword-settings.ts'
import { orphanRoutes } from './messages/orphans-http.ts'
import { optOutRoutes } from './messages/opt-outs/http.ts'
import { optOutListRoutes } from './messages/opt-outs/list-http.ts'
import type { MessagesContext } from './messages/accept/send.ts'
import { shortLinkRoutes, type ShortLinksContext } from './messages/short-links/http.ts'
import { metricsRoute, type MetricsRouteContext } from './metrics/http.ts'
import { smppCredentialRoutes } from './smpp-server/http.ts'
import { guardTestKeys } from './test-keys.ts'
import { openTwilioAuthenticator } from './twilio/credential.ts'
import { twilioCredentialRoutes } from './twilio/credential-http.ts'
import { twilioRoutes } from './twilio/http.ts'
import { deliveryRoutes } from './webhooks/deliveries-http.ts'
import { eventRoutes } from './webhooks/log/events-http.ts'
import type { EventsContext } from './webhooks/log/events-context.ts'
import { webhookRoutes } from './webhooks/http.ts'
import { replayRoutes } from './webhooks/log/replay-http.ts'

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
