/** Every route of the API: the one list, for the process that serves it and for the script that describes it. */
import { accountRoutes, type AccountsContext } from './accounts/http.ts'
import { campaignRoutes, type CampaignsContext } from './campaigns/http.ts'
import { doctorRoutes } from './carriers/doctor-http.ts'
import { carrierRoutes, type CarriersContext } from './carriers/http.ts'
import { inboundRoutes, type InboundContext } from './carriers/http-carriers/inbound-http.ts'
import { linkRoutes } from './carriers/link-http.ts'
import { mappingRoutes } from './carriers/mapping-http.ts'
import { poolRoutes } from './carriers/pool-http.ts'
import { receiptRoutes } from './carriers/receipts-http.ts'
import { routeRoutes } from './carriers/route-http.ts'
import { routeTestRoutes } from './carriers/route-test-http.ts'
import { senderRoutes } from './carriers/sender-http.ts'
import type { App } from './http.ts'
import { explainRoutes } from './messages/explain-http.ts'
import { messageRoutes } from './messages/http.ts'
import { confirmations, keywords } from './messages/keywords.ts'
import type { MessagesContext } from './messages/send.ts'
import { smppCredentialRoutes } from './smpp-server/http.ts'
import { eventRoutes } from './webhooks/events-http.ts'
import { webhookRoutes, type WebhooksContext } from './webhooks/http.ts'

/** What all slices together need. */
export type RoutesContext = Omit<AccountsContext, 'settings'> &
  MessagesContext &
  CampaignsContext &
  CarriersContext &
  WebhooksContext &
  InboundContext & { version: string }

/** Registers the routes of every slice. */
export async function registerRoutes(app: App, context: RoutesContext): Promise<void> {
  const settings = { version: context.version, optOut: { keywords, confirmations } }
  await accountRoutes(app, { ...context, settings })
  messageRoutes(app, context)
  explainRoutes(app, context)
  carrierRoutes(app, context)
  linkRoutes(app, context)
  inboundRoutes(app, context)
  mappingRoutes(app, context)
  doctorRoutes(app, context)
  receiptRoutes(app, context)
  senderRoutes(app, context)
  poolRoutes(app, context)
  routeRoutes(app, context)
  routeTestRoutes(app, context)
  campaignRoutes(app, context)
  smppCredentialRoutes(app, context)
  webhookRoutes(app, context)
  eventRoutes(app, context)
}
