import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// What node_modules has is compiled once and not by each worker: a fifth of what the tests of a room take.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    globalSetup: 'test/global-setup.ts',
    setupFiles: 'test/setup.ts',
    reporters: ['default', 'test/slowest.ts'],
    // Real PostgreSQL, real sockets, real Chromium on small machines: a hang is the only thing a limit should catch.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 90_000 } },
    pool: 'forks',
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'alone', include: ['{server,test}/**/*.test.ts'] } },
      // These keep no state in modules, so a worker runs many files and loads their imports once: half a second of CPU less for each.
      {
        extends: true,
        test: { name: 'together', include: ['{smpp,simulator,sdk,cli,mcp,scripts}/**/*.test.ts'], isolate: false },
      },
    ],
  },
})
