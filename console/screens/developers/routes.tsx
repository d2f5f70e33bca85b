import type { Screens } from '../../screens.ts'
import '../../style/developers.css'
import { EventScreen } from './events/event.tsx'
import { EventsScreen } from './events/events.tsx'
import { KeyScreen } from './keys/key.tsx'
import { KeysScreen } from './keys/keys.tsx'
import { NewKeyScreen } from './keys/new.tsx'
import { SmppClientScreen } from './smpp/client.tsx'
import { NewSmppClientScreen } from './smpp/new.tsx'
import { EditWebhookScreen } from './webhooks/edit.tsx'
import { NewWebhookScreen } from './webhooks/new.tsx'
import { WebhookScreen } from './webhooks/webhook.tsx'
import { WebhooksScreen } from './webhooks/webhooks.tsx'

export const screens: Screens = [
  ['/webhooks', WebhooksScreen],
  ['/webhooks/new', NewWebhookScreen],
  ['/webhooks/:id', WebhookScreen],
  ['/webhooks/:id/edit', EditWebhookScreen],
  ['/events', EventsScreen],
  ['/events/:id', EventScreen],
  ['/keys', KeysScreen],
  ['/keys/new', NewKeyScreen],
  ['/keys/smpp/new', NewSmppClientScreen],
  ['/keys/smpp/:id', SmppClientScreen],
  ['/keys/:id', KeyScreen],
]
