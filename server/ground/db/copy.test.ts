import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { copyIn, copyOut } from './copy.ts'
import { createTestDatabase } from './testing.ts'

const { db, sql } = await createTestDatabase()

test('rows are written in whole pieces for a slow reader, and read back unchanged', async () => {
  await sql`create table one as select n, repeat(chr(97 + n % 26), n % 300) as text from generate_series(1, 20000) n`
  await db.query(`insert into one values (0, repeat('long', 30000)), (-1, E'\\t\\n\\\\'), (-2, null)`)
  await sql`create table other (like one)`
  const tx = await db.connect()
  const pieces: Buffer[] = []
  let [running, most] = [0, 0]
  const rows = await copyOut(tx, 'copy one to stdout', 50_000, async (piece) => {
    most = Math.max(most, ++running)
    pieces.push(Buffer.from(piece))
    // A reader that continues meanwhile would write into it.
    for (let n = 0; n < 20; n++) await turn()
    expect(piece.equals(pieces.at(-1) ?? piece)).toBe(true)
    running--
  })
  expect([rows, most]).toEqual([20_003, 1])
  expect(pieces.length).toBeGreaterThan(40)
  expect(pieces.every((piece) => piece.at(-1) === 10)).toBe(true)

  const copy = await copyIn(tx, 'copy other from stdin')
  const all = Buffer.concat(pieces)
  for (let at = 0; at < all.length; at += 77_777) await copy.write(all.subarray(at, at + 77_777))
  expect(await copy.end()).toBe(20_003)
  const different = await sql`select * from one except select * from other`
  expect(different).toEqual([])
  tx.release()
})

test('an error on either side is thrown', async () => {
  const tx = await db.connect()
  const taking = copyOut(tx, `copy (select repeat('x', 1000) from generate_series(1, 5000)) to stdout`, 10_000, () =>
    Promise.reject(new Error('the disk is full')),
  )
  await expect(taking).rejects.toThrow('the disk is full')
  tx.release(true)
  const next = await db.connect()
  await expect(copyOut(next, 'copy nothing to stdout', 10, async () => {})).rejects.toThrow('does not exist')
  await expect(copyIn(next, 'copy nothing from stdin')).rejects.toThrow('does not exist')
  await sql`create table numbers (n int check (n > 0))`
  const copy = await copyIn(next, 'copy numbers from stdin')
  const writing = async (): Promise<never> => {
    for (;;) await copy.write(Buffer.from('-1\n'.repeat(50_000)))
  }
  await expect(writing()).rejects.toThrow('check constraint')
  await expect(copy.end()).rejects.toThrow('check constraint')
  // The connection still works.
  expect((await next.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  next.release()
})
