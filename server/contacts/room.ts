/** The face of contacts. A person's contacts are erased by campaigns, which count them. */
import type { PreviewContext } from '../accept/preview.ts'
import type { Room } from '../events/face.ts'
import type { App } from '../ground/http/http.ts'
import { contactRoutes, type ContactsContext } from './http.ts'
import { templatePreviewRoute } from './template-preview-http.ts'

export const room = {
  routes(app: App, context: ContactsContext & PreviewContext) {
    contactRoutes(app, context)
    templatePreviewRoute(app, context)
  },
  destroy: ['contacts'],
} satisfies Room
