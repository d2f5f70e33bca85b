import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// What node_modules has is compiled once and not by each worker: a fifth of what the tests of a room take.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** Tests in `test/` that ask all rooms, within the process, or a program that they share. */
const sharing = [
  'audit',
  'backup',
  'cli',
  'closing',
  'console*',
  'emptied',
  'errors',
  'fast-path',
  'hidden-texts',
  'idempotency',
  'mcp',
  'routes',
  'row-security',
  'sdk',
  'tenancy',
  'test-keys',
  'twilio',
]

/**
 * Tests in processes of their own: journeys with a program of their own, and tests that count memory or turns of the process, load modules
 * again or change the clock of a module.
 */
const alone = [
  `test/!(${sharing.join('|')}).test.ts`,
  'server/imports/bad-files.test.ts',
  'server/ground/db/clock.test.ts',
  'server/ground/http/turns.test.ts',
]

/** Those that take longest begin first, so that all workers have work until the end. */
const longest = ['old-npm', 'start', 'hostile', 'fuzz', 'links', 'plans', 'rotate-key', 'console']

class LongestFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.includes(`/test/${name}`))
      if (place >= 0) return place
      return longest.length + (project.name === 'alone' ? 0 : 1)
    }
    return (await super.sort(specs)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

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
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'alone', include: alone } },
      // A worker runs many files, loads their imports once and starts one Chromium.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{console,server,smpp,simulator,sdk,cli,mcp,scripts,test}/**/*.test.{ts,tsx}'],
          exclude: alone,
          isolate: false,
        },
      },
    ],
  },
})
