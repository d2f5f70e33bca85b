import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../db/testing.ts'
import { acceptText, partNames } from './sql.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

test('the statement of every shape is one that PostgreSQL takes', async () => {
  const client = await database.db.connect()
  const refused: string[] = []
  try {
    for (let shape = 0; shape < 2 ** partNames.length; shape++) {
      const used = partNames.filter((_, i) => shape & (1 << i))
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
