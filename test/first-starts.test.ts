/** Two machines start for the first time at once, on one database. */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launch, makeDataFolder, makeEnvironment, startDurable } from './harness.ts'
import { until } from './until.ts'

test('of two processes with their own key files one runs and the other is refused, and leaves no key behind', async () => {
  const server = await startDurable('empty')
  const folders = await Promise.all([makeDataFolder(), makeDataFolder()])
  const launched: (ReturnType<typeof launch> & { keyFile: string })[] = []
  try {
    for (const folder of folders) {
      const env = await makeEnvironment(folder, { env: { DATABASE_URL: server.url, HELIOGRAM_SIMULATOR: 'off' } })
      launched.push({ ...launch(['start'], env), keyFile: join(env['HELIOGRAM_DATA'] ?? '', 'key') })
    }
    const isOver = ({ child, printed }: (typeof launched)[number]): boolean =>
      child.exitCode !== null || printed.stdout.includes('Heliogram is running')
    await until('both have started, or not', () => launched.every(isOver), 100_000)
    const refused = launched.filter(({ child }) => child.exitCode !== null)
    expect(refused.map(({ printed }) => printed.stderr)).toEqual([
      expect.stringMatching(/^There is no key file \S+, and \S+ runs on the same database with one\./m),
    ])
    expect(refused.map(({ child, keyFile }) => [child.exitCode, existsSync(keyFile)])).toEqual([[1, false]])
  } finally {
    for (const { child } of launched) child.kill('SIGTERM')
    await Promise.all(launched.map(({ ended }) => ended))
    await server.close()
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  }
})
