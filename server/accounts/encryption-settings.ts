import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { timeOfId } from '../ground/base/ids.ts'
import { readKeyState } from '../ground/sealing/data-keys.ts'

export const Encryption = Type.Object(
  {
    content: Type.Boolean({
      description: 'Whether texts of new messages, and contacts, are encrypted; set by the operator.',
    }),
    key: Nullable(Type.Object({ version: Type.Integer(), created_at: Timestamp('When it was created.') })),
    rotation: Nullable(
      Type.Object(
        {
          retired_keys: Type.Integer({ description: 'Old keys that still encrypt something.' }),
          done_until: Nullable(
            Timestamp('Messages up to this time are re-encrypted; null: it starts in some minutes.'),
          ),
        },
        { description: 'null: everything is encrypted with the current key.' },
      ),
    ),
  },
  { description: 'Encryption of texts and contacts in the database. The keys themselves are never shown.' },
)

/** By primary key prefix of data_keys. */
export async function readEncryption(
  db: Queryable,
  accountId: string,
  content: boolean,
): Promise<Static<typeof Encryption>> {
  const { version, createdAt, retired, sweptTo } = await readKeyState(db, accountId)
  return {
    content,
    key: version !== null && createdAt ? { version, created_at: createdAt.toISOString() } : null,
    rotation:
      retired > 0
        ? { retired_keys: retired, done_until: showTime(sweptTo === null ? null : new Date(timeOfId(sweptTo))) }
        : null,
  }
}
