/** A client of the Heliogram API, its types, and verification of webhook posts. */
export { createClient, newIdempotencyKey } from './client.ts'
export type {
  Answer,
  CallOptions,
  Client,
  ClientOptions,
  Item,
  JsonOperation,
  ListOperation,
  OperationName,
  OperationRequest,
} from './client.ts'
export { HeliogramError } from './error.ts'
export * from './operations.ts'
export { verifyWebhook, verifyWebhookBatch, WebhookError } from './webhook.ts'
export type { WebhookEvent, WebhookFault, WebhookPost } from './webhook.ts'
