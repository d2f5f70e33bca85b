/** A key file lost for good, with encrypted texts: the steps in docs/runbooks.md work. */
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPool } from '../server/ground/db/db.ts'
import { startEmbedded } from '../server/ground/db/embedded/embedded.ts'
import { startProgram } from './harness.ts'
import { until } from './until.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

test('what the lost key sealed is given up, and everything else continues', async () => {
  const page = await readFile(join(import.meta.dirname, '../docs/runbooks.md'), 'utf8')
  const [, statements = ''] = /\n## Lost master key\n[^]*?```sql\n([^]*?)```/.exec(page) ?? []
  expect(statements).toContain('update data_keys')
  const program = await startProgram({ env: { HELIOGRAM_ENCRYPT_CONTENT: 'on' } })
  try {
    const { client } = program
    await client.waitForBound()
    const before = await client.send({ to: '15552011001', message: 'Before' }, 'before')
    await client.waitForStatus(before.id, ['delivered'])
    await client.expect('POST', '/v1/campaigns', { key: 'sale', name: 'Sale' })
    await client.expect('POST', '/v1/campaigns/sale/contacts', { phone_number: '15552011001', first_name: 'Ada' })
    const waiting = await client.send(
      { to: '15552011002', message: 'Later', send_at: new Date(Date.now() + 10_000).toISOString() },
      'later',
    )
    await program.stop()

    await writeFile(join(program.dataFolder, 'key'), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
    const embedded = await startEmbedded({ dataDir: program.dataFolder, log: quiet })
    const db = openPool(embedded.connection, { name: 'statements', max: 1 })
    await db.query(statements)
    await db.end()
    await embedded.close()
    await program.restart()

    expect(await client.message(before.id)).toMatchObject({ message: null, text_unavailable: true })
    expect(await client.get('/v1/campaigns/sale/contacts')).toMatchObject({
      data: [{ phone_number: '15552011001', fields_unavailable: true }],
    })
    const { data } = await client.get<{ data: { id: string }[] }>('/v1/carriers')
    await until('the link says why it is down', async () =>
      String((await client.link()).last_error).includes('cannot_start'),
    )
    await client.call('PATCH', `/v1/carriers/${data[0]?.id}`, { password: 'secret' })
    await client.waitForBound()
    expect(await client.waitForStatus(waiting.id, ['rejected'])).toMatchObject({ error: { code: 'text_unavailable' } })
    const after = await client.send({ to: '15552011001', message: 'After' }, 'after')
    expect(await client.waitForStatus(after.id, ['delivered'])).toMatchObject({ message: 'After' })
    await program.stop()
    await program.restart()
    expect(await client.message(after.id)).toMatchObject({ message: 'After' })
  } finally {
    await program.remove()
  }
}, 300_000)
