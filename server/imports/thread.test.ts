import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('the thread does not load TypeBox, which would be half of its memory', () => {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    await import(${JSON.stringify(new URL('write.ts', import.meta.url))})
    console.log(JSON.stringify(loaded))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  const loaded = JSON.parse(stdout) as string[]
  expect(loaded.some((url) => url.endsWith('/imports/write.ts'))).toBe(true)
  expect(loaded.filter((url) => /node_modules\/(typebox|fastify|pino|undici)\//.test(url))).toEqual([])
})
