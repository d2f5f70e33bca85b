/** Every route of the API: the one list, for the process that serves it and for the script that describes it. */
import { accountRoutes, type AccountsContext } from './accounts/http.ts'
import { campaignRoutes, type CampaignsContext } from './campaigns/http.ts'
import { carrierRoutes, type CarriersContext } from './carriers/http.ts'
import { senderRoutes } from './carriers/sender-http.ts'
import type { App } from './http.ts'
import { messageRoutes } from './messages/http.ts'
import { confirmations, keywords } from './messages/keywords.ts'
import type { MessagesContext } from './messages/send.ts'
import { eventRoutes } from './webhooks/events-http.ts'
import { webhookRoutes, type WebhooksContext } from './webhooks/http.ts'

/** What all slices together need. */
export type RoutesContext = Omit<AccountsContext, 'settings'> &
  MessagesContext &
  CampaignsContext &
  CarriersContext &
  WebhooksContext & { version: string }

/** Registers the routes of every slice. */
export async function registerRoutes(app: App, context: RoutesContext): Promise<void> {
  const settings = { version: context.version, optOut: { keywords, confirmations } }
  await accountRoutes(app, { ...context, settings })
  messageRoutes(app, context)
  carrierRoutes(app, context)
  senderRoutes(app, context)
  campaignRoutes(app, context)
  webhookRoutes(app, context)
  eventRoutes(app, context)
}
