import '../../style/campaigns.css'
import type { Screens } from '../../screens.ts'
import { BroadcastsScreen } from './broadcasts/all.tsx'
import { BroadcastScreen } from './broadcasts/broadcast.tsx'
import { ContactScreen } from './contacts/contact.tsx'
import { ContactsScreen } from './contacts/contacts.tsx'
import { ImportScreen } from './imports/import.tsx'
import { ImportsScreen } from './imports/imports.tsx'
import { CampaignsScreen } from './list.tsx'
import { NewCampaignScreen } from './new.tsx'
import { CampaignScreen } from './overview.tsx'
import { SendScreen } from './send/send.tsx'
import { CampaignSettingsScreen } from './settings.tsx'
import { NewTemplateScreen } from './templates/new.tsx'
import { TemplateScreen } from './templates/template.tsx'
import { TemplatesScreen } from './templates/templates.tsx'

export const screens: Screens = [
  ['/campaigns', CampaignsScreen],
  ['/campaigns/new', NewCampaignScreen],
  ['/campaigns/:id', CampaignScreen],
  ['/campaigns/:id/contacts', ContactsScreen],
  ['/campaigns/:id/contacts/:contact', ContactScreen],
  ['/campaigns/:id/import', ImportsScreen],
  ['/campaigns/:id/send', SendScreen],
  ['/campaigns/:id/settings', CampaignSettingsScreen],
  ['/imports/:id', ImportScreen],
  ['/broadcasts', BroadcastsScreen],
  ['/broadcasts/:id', BroadcastScreen],
  ['/templates', TemplatesScreen],
  ['/templates/new', NewTemplateScreen],
  ['/templates/:id', TemplateScreen],
]
