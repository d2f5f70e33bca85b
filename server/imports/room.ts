import type { Room } from '../events/face.ts'
import { hourMs, inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { cancelImportsOf } from './close.ts'
import { importStep } from './erase.ts'
import { importRoutes } from './http.ts'
import { forgetImportRows } from './retention.ts'

export const room = {
  tag: 'Imports',
  routes: importRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      inPieces('rows of imports that are over', hourMs, 5000, (limit) => forgetImportRows(db, limit)),
    ],
  },
  close: [cancelImportsOf],
  erase: [importStep],
  destroy: ['import_errors', 'imports'],
} satisfies Room
