/**
 * Runs docs/getting-started.md and the pages of docs/api in their order: each `sh` block against a real service, its response compared with the
 * next `json` block. Ids, times and secrets differ between runs: those on the page are mapped to those of this run, in later commands too.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPorts, startProgram, type Program } from './harness.ts'
import { until } from './until.ts'

interface Block {
  page: string
  language: string
  /** Follows the language: `setup`, `background`, `until`, or a file name. */
  note: string
  content: string
  line: number
}

const folderOfPages = join(import.meta.dirname, '../docs/api')
const first = readFileSync(join(folderOfPages, 'README.md'), 'utf8')
const listed = [...first.matchAll(/^- \[.+\]\((.+)\)/gm)].map(([, name = '']) => name)
const pages = ['../getting-started.md', 'README.md', ...listed, '../migrating-from-twilio.md']
const blocks = pages.flatMap((page) => {
  const content = readFileSync(join(folderOfPages, page), 'utf8')
  return [...content.matchAll(/^```(?<language>\w+) ?(?<note>.*)\n(?<content>[^]*?)^```$/gm)].map(
    ({ groups = {}, index }): Block => ({
      page,
      language: groups['language'] ?? '',
      note: groups['note'] ?? '',
      content: (groups['content'] ?? '').trimEnd(),
      line: content.slice(0, index).split('\n').length,
    }),
  )
})

// Varies between runs.
const varying =
  /\b[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}\b|hg_(?:live|test|at|rt|iv)_\w+|whsec_[\w+/=]+|\d{4}-\d\d-\d\dT[\d:.]+Z|127\.0\.0\.1:\d+|\bgo\.example\.com\/\w{10}\b|\b(?:AC|SM)[0-9a-f]{32}\b|\b[0-9a-f]{32}\b/g
// Members whose varying values mean nothing to readers.
const opaque = [
  'provider_message_id',
  'carrier_message_id',
  'next_cursor',
  'refresh_cursor',
  'prefix',
  'duration_ms',
  'connect_ms',
  'first_byte_ms',
  'total_ms',
  'webhook-timestamp',
  'system_id',
  'password',
]

let program: Program
let folder: string
let port: number
const background: ChildProcess[] = []
let printed = ''
const known = new Map<string, string>()

beforeAll(async () => {
  program = await startProgram({
    env: { HELIOGRAM_SHORT_URL: 'https://go.example.com', HELIOGRAM_API_PER_SECOND: '100' },
    hasOwner: false,
  })
  folder = await mkdtemp(join(tmpdir(), 'heliogram-docs-'))
  port = (await findPorts(1))[0] ?? 0
  known.set('127.0.0.1:9000', `127.0.0.1:${port}`)
  known.set('hg_iv_…', /hg_iv_\w+/.exec(program.stdout)?.[0] ?? '')
})
afterAll(async () => {
  for (const child of background) child.kill('SIGKILL')
  await program.remove()
  await rm(folder, { recursive: true })
})

test('every page of docs/api is listed on its first page', () => {
  const names = readdirSync(folderOfPages).filter((name) => name.endsWith('.md'))
  expect(['README.md', ...listed].sort()).toEqual(names.sort())
})

test('the pages of docs/api are correct', async () => {
  for (const [i, block] of blocks.entries()) {
    const next = blocks[i + 1]
    if (block.language === 'js')
      await writeFile(join(folder, block.note), block.content.replaceAll('9000', String(port)))
    else if (block.language === 'text')
      await until(`docs/api/${block.page}, line ${block.line}`, () =>
        block.content.split('\n').every((line) => printed.includes(line)),
      )
    else if (block.language === 'sh' && block.note === 'background') await startBackground(block)
    else if (block.language === 'sh' && block.note !== 'setup') await runBlock(block, next)
    // The carrier drops the session once more, with the first message of the next page if that is on its way.
    if (block.content.includes('/resend '))
      await until('the message that was sent again has no answer again', async () => {
        const path = '/v1/messages?to=15551230021&status=unconfirmed'
        return (await program.client.get<{ data: unknown[] }>(path)).data.length === 1
      })
  }
})

/** Runs a command until its response matches: once if it changes something, else for a while. */
async function runBlock(block: Block, next: Block | undefined): Promise<void> {
  const expected = next?.language === 'json' ? (JSON.parse(next.content) as unknown) : undefined
  const isRead = !/ -d | -X |--data/.test(block.content)
  const giveUpAt = Date.now() + (isRead || block.note === 'until' ? 30_000 : 0)
  for (;;) {
    const output = await runShell(inThisRun(block.content))
    const actual: unknown = output.trim() === '' ? undefined : JSON.parse(output)
    const [page, came] = [plain(expected), plain(cut(actual, expected))]
    const isEqual = expected === undefined || JSON.stringify(page) === JSON.stringify(came)
    if (!isEqual && Date.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      continue
    }
    if (expected !== undefined) {
      const place = `docs/api/${block.page}, line ${block.line}`
      expect(came, place).toEqual(page)
      // Order counts, because readers compare line by line.
      expect(JSON.stringify(came, null, 1), place).toBe(JSON.stringify(page, null, 1))
      learn(expected, actual)
    }
    return
  }
}

function environment(): Record<string, string> {
  const [key = ''] = /hg_live_\w+/.exec(program.stdout) ?? []
  const [, phones = ''] = /Simulated phones\s+(\S+)/.exec(program.stdout) ?? []
  return { PATH: process.env['PATH'] ?? '', BASE: program.address, PHONES: phones, KEY: key }
}

async function runShell(command: string): Promise<string> {
  const child = spawn('sh', ['-c', command], { cwd: folder, env: environment(), stdio: ['ignore', 'pipe', 'ignore'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return output
}

async function startBackground(block: Block): Promise<void> {
  const child = spawn('sh', ['-c', `exec env ${inThisRun(block.content)}`], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  background.push(child)
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
  await until('the receiver listens', () => fetch(`http://127.0.0.1:${port}`, { method: 'POST' }).then(() => true))
}

function inThisRun(command: string): string {
  let mine = command
  for (const [theirs, ours] of known) mine = mine.replaceAll(theirs, ours)
  return mine
}

function cut(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) return actual.map((item, i) => cut(item, expected[i]))
  if (!isObject(actual) || !isObject(expected)) return actual
  const names = '…' in expected ? Object.keys(actual).filter((name) => name in expected) : Object.keys(actual)
  return {
    ...Object.fromEntries(names.map((name) => [name, cut(actual[name], expected[name])])),
    ...('…' in expected && { '…': expected['…'] }),
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(varying, (found) =>
      found
        .replace(/^([a-z]{3}|hg_[a-z]+|whsec)_.*$/, '$1_')
        .replace(/^(AC|SM)?[0-9a-f]{32}$/, '$1…')
        .replace(/^(\d|go\.example).*/, '…'),
    )
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value).map((name) => [name, opaque.includes(name) && value[name] !== null ? '…' : plain(value[name])]),
  )
}

/** Maps the page's ids and secrets to this run's. */
function learn(expected: unknown, actual: unknown): void {
  if (typeof expected === 'string' && typeof actual === 'string') {
    const ours = actual.match(varying) ?? []
    for (const [i, theirs] of (expected.match(varying) ?? []).entries()) {
      const mine = ours[i]
      if (mine !== undefined && !/^(\d{4}-|127\.)/.test(theirs)) known.set(theirs, mine)
    }
  } else if (Array.isArray(expected) && Array.isArray(actual))
    for (const [i, item] of expected.entries()) learn(item, actual[i])
  else if (isObject(expected) && isObject(actual))
    for (const name of Object.keys(expected)) learn(expected[name], actual[name])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
