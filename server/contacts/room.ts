import type { PreviewContext } from '../accept/preview.ts'
import type { Room } from '../events/face.ts'
import { forAWhile } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { DataKeys } from '../ground/sealing/data-keys.ts'
import { contactStep } from './erase.ts'
import { contactRoutes, type ContactsContext } from './http.ts'
import { resealContacts } from './reseal.ts'
import { templatePreviewRoute } from './template-preview-http.ts'

export const room = {
  tag: 'Contacts',
  routes(app: App, context: ContactsContext & PreviewContext) {
    contactRoutes(app, context)
    templatePreviewRoute(app, context)
  },
  sweeps: {
    jobs: ({ db, keys, contactSeals }: { db: Db; keys: DataKeys; contactSeals: ContactSeals }) => [
      {
        name: 'contacts to seal',
        everyMs: 10_000,
        run: () => forAWhile(5000, () => resealContacts(db, keys, contactSeals)),
      },
    ],
  },
  erase: [contactStep],
  destroy: ['contacts'],
} satisfies Room
