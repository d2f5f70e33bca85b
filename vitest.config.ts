import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{smpp,server,simulator,sdk,cli,mcp,scripts,test}/**/*.test.ts'],
    globalSetup: 'test/global-setup.ts',
    // Real PostgreSQL, real sockets, real Chromium on small machines: a hang is the only thing a limit should catch.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 90_000 } },
    pool: 'forks',
    maxWorkers: 3,
  },
})
