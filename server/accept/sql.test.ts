import { expect, test } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { acceptText, partNames } from './sql.ts'

const { db } = await createTestDatabase()

test('PostgreSQL accepts the statement of every shape', async () => {
  const others = partNames.filter((part) => part !== 'accounts')
  const client = await db.connect()
  const refused: string[] = []
  try {
    for (let shape = 0; shape < 2 ** others.length; shape++) {
      const some = others.filter((_, i) => shape & (1 << i))
      // Half of the shapes have one account, the others many, because two of the joins depend on that.
      const used = some.length % 2 === 1 ? partNames.filter((part) => part === 'accounts' || some.includes(part)) : some
      await client.query(`prepare shape as ${acceptText('', new Set(used))}`).then(
        () => client.query('deallocate shape'),
        (error: Error) => void refused.push(`${used.join()}: ${error.message}`),
      )
    }
  } finally {
    client.release()
  }
  expect(refused.slice(0, 10)).toEqual([])
})
