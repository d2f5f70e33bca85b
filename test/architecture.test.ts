/** The rules of ARCHITECTURE.md that can be checked: imports, access to the environment, sizes of files. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { keyed, routes, type OperationName } from '../sdk/index.ts'

const root = join(import.meta.dirname, '..')

const rooms = ['smpp', 'simulator', 'server', 'sdk', 'console', 'cli', 'mcp', 'scripts', 'test']
const files = globSync(`{${rooms.join(',')}}/**/*.{ts,tsx}`, {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
}).sort()
const textOf = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))

/**
 * The rooms of server/, top first: a room may import only lower ones, types included. Code points upstream; messages go accept → queue → links →
 * ledger ← inbound → post.
 */
const order: readonly string[] = [
  // The roof builds everything; only main.ts imports it.
  'program',
  'summary',
  'routes',
  'broadcasts',
  'senders',
  'rates',
  'mappings',
  'imports',
  'carriers',
  'contacts',
  'http-carriers',
  'campaigns',
  'privacy',
  'doctor',
  'inbound',
  'conversations',
  'opt-outs',
  'smpp-server',
  'twilio',
  'messages',
  'live',
  'links',
  'webhooks',
  'accept',
  'templates',
  'ledger',
  'queue',
  'quiet-hours',
  'short-links',
  'post',
  'guards',
  'message',
  'audit-log',
  'accounts',
  'usage',
  'events',
  'ground/tables',
  'ground/http',
  'ground/audit',
  'ground/sealing',
  'ground/numbers',
  'ground/base',
  'ground/metrics',
  'ground/db',
]

const roomMax = 5500
const functionMax = 120

/** Longest file, by kind. Tables of cases may be longer than code. */
const linesMax = { code: 350, test: 500 }

/** Generated, and not meant to be read as a whole. */
const generated = new Set(['sdk/operations.ts'])

const isTest = (file: string): boolean => file.startsWith('test/') || /(\.test|(^|[-/])testing)\.tsx?$/.test(file)

function partOf(file: string): string {
  const [room = '', inner = '', innermost = ''] = file.split('/')
  if (room === 'console') return partOfConsole(file, inner, innermost)
  if (room === 'cli') return partOfCli(file, inner)
  if (room === 'mcp') return ['tools', 'acts'].includes(inner) ? `mcp/${inner}` : 'mcp'
  return room === 'server' ? roomOf(file) : room
}

function roomOf(file: string): string {
  const [, room = '', inner = ''] = file.split('/')
  if (room.includes('.')) return 'main'
  return room === 'ground' ? `ground/${inner}` : room
}

/** Shared code of screens, each room of screens, and the code that assembles them. */
function partOfConsole(file: string, inner: string, innermost: string): string {
  if (inner === 'screens') return `console/screens/${innermost}`
  if (['compose', 'kit', 'session', 'shell', 'style'].includes(inner)) return `console/${inner}`
  return ['console/api.ts', 'console/screens.ts'].includes(file) ? 'console/api' : 'console'
}

/** Shared code of commands, the commands, and the code that finds them. */
function partOfCli(file: string, inner: string): string {
  if (['input', 'session', 'terminal', 'commands'].includes(inner)) return `cli/${inner}`
  return ['cli/exit.ts', 'cli/environment.ts'].includes(file) ? 'cli/ground' : 'cli'
}

/** Including itself; null: everything. */
function allowedFor(part: string): string[] | null {
  if (['scripts', 'test', 'main'].includes(part)) return null
  if (part === 'smpp' || part === 'sdk') return [part]
  if (part === 'simulator') return ['simulator', 'smpp']
  if (part === 'mcp') return ['mcp', 'mcp/tools', 'mcp/acts', 'sdk']
  // Reading tools must not know acting ones.
  if (part === 'mcp/tools') return ['mcp/tools', 'mcp', 'sdk']
  if (part === 'mcp/acts') return ['mcp/acts', 'mcp/tools', 'mcp', 'sdk']
  if (part === 'console') return null
  if (part.startsWith('cli')) return allowedForCli(part)
  if (['console/kit', 'console/session'].includes(part)) return [part, 'sdk']
  if (part === 'console/api') return [part, 'console/kit', 'console/session', 'sdk']
  const all = [part, 'console/api', 'console/kit', 'console/session', 'console/style', 'sdk']
  if (part.startsWith('console/screens/')) return [...all, 'console/compose']
  // The console counts segments as the server does.
  if (part === 'console/compose') return [...all, 'smpp/text.ts']
  if (part.startsWith('console/')) return all
  return order.includes(part) ? [...order.slice(order.indexOf(part)), 'smpp'] : []
}

function allowedForCli(part: string): string[] {
  const ground = [part, 'cli/ground', 'sdk']
  if (['cli/ground', 'cli/input', 'cli/session'].includes(part)) return ground
  if (part === 'cli/terminal') return [...ground, 'cli/cli.ts']
  const rooms = ['cli/input', 'cli/session', 'cli/terminal']
  return part === 'cli/commands'
    ? [...ground, ...rooms, 'cli/cli.ts', 'cli/words.ts']
    : [...ground, ...rooms, 'cli/commands']
}

/** As written; includes dynamic and type-only imports. */
function importsOf(text: string): string[] {
  const pattern = /^(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*'([^']+)'|\bimport\(\s*'([^']+)'/gm
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? '')
}

function resolveOurs(file: string, name: string): string | null {
  if (name.startsWith('.')) return relative(root, join(root, dirname(file), name))
  const [, room, inner] = /^@heliogram\/([^/]+)(?:\/(.+))?$/.exec(name) ?? []
  return room === undefined ? null : `${room}/${inner ?? 'index.ts'}`
}

const edges = files.flatMap((file) =>
  importsOf(textOf.get(file) ?? '').map((name) => ({ file, name, target: resolveOurs(file, name) })),
)

test('every import follows the map', () => {
  const wrong = edges
    .filter(({ file }) => !isTest(file))
    .filter(({ file, target }) => {
      const allowed = allowedFor(partOf(file))
      return target !== null && allowed?.includes(partOf(target)) === false && !allowed.includes(target)
    })
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
})

test('every folder of server/ is a room in the list, and main.ts is the only file beside them', () => {
  const found = new Set(files.filter((file) => file.startsWith('server/')).map(roomOf))
  expect([...found].sort()).toEqual([...order, 'main'].sort())
  expect(files.filter((file) => /^server\/[^/]+$/.test(file))).toEqual(['server/main.ts'])
})

test('program/rooms.ts has every room, in the order of the list', () => {
  const text = textOf.get('server/program/rooms.ts') ?? ''
  const imported = text.matchAll(/\{ room as (\w+) \} from '(.+)\/room\.ts'/g)
  const roomOfName = new Map([...imported].map(([, name = '', path = '']) => [name, path.replace('../', '')]))
  const [, list = ''] = /^const all = \[([^\]]*)\]/m.exec(text) ?? []
  const listed = [...list.matchAll(/\w+/g)].map(([name]) => roomOfName.get(name))
  expect(listed).toEqual(
    order
      .map((room) => (room === 'program' ? '.' : room))
      .filter((room) => textOf.has(`server/${room === '.' ? 'program' : room}/room.ts`)),
  )
})

test('no files form a circle, types included', () => {
  const next = Map.groupBy(
    edges.filter(({ file, target }) => target !== null && !isTest(file)),
    ({ file }) => file,
  )
  const done = new Set<string>()
  const circles: string[] = []
  const follow = (file: string, way: string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '))
    if (done.has(file) || way.includes(file)) return
    for (const { target } of next.get(file) ?? []) follow(target ?? '', [...way, file])
    done.add(file)
  }
  for (const file of files) follow(file, [])
  expect(circles).toEqual([])
})

test('no room is too large to know', () => {
  const lines = (room: string): number =>
    files
      .filter((file) => file.startsWith('server/') && !isTest(file) && roomOf(file) === room)
      .reduce((sum, file) => sum + (textOf.get(file) ?? '').split('\n').length - 1, 0)
  const rooms = order.filter((room) => room !== 'program').map((room) => ({ room, lines: lines(room) }))
  expect(rooms.filter((one) => one.lines > roomMax)).toEqual([])
})

/** Functions and methods with their lines, as the formatter lays them out. */
function functionsOf(text: string): { name: string; lines: number }[] {
  const lines = text.split('\n')
  const starts = /^(?:export )?(?:async )?function\*? (\w+)|^ {2}(?:async |static |get |set )*(#?\w+)\(.*\{$/
  return lines.flatMap((line, at) => {
    const [, plain, method] = starts.exec(line) ?? []
    const name = plain ?? method
    if (name === undefined || ['if', 'for', 'while', 'switch'].includes(name)) return []
    const end = plain === undefined ? '  }' : '}'
    return [{ name, lines: lines.indexOf(end, at) - at + 1 }]
  })
}

test('no function is too long to follow', () => {
  const long = files
    .filter((file) => /^(server|sdk|cli|mcp|simulator|smpp)\//.test(file) && !isTest(file) && !generated.has(file))
    .flatMap((file) => functionsOf(textOf.get(file) ?? '').map((one) => ({ file, ...one })))
    .filter(({ lines }) => lines > functionMax)
    .map(({ file, name, lines }) => `${name} in ${file} has ${lines} lines`)
  expect(long).toEqual([])
})

const namesRoutes = [
  // The first command for people, and the console's logins, which put tokens into cookies.
  'server/program/greeting.ts',
  'server/program/site/session.ts',
  // The error names the route to authenticate.
  'server/ground/base/errors.ts',
]

test('only a room names the path of its routes', () => {
  const registered = /\bapp\.(?:get|post|put|patch|delete)\(\s*'(\/[^']+)'/g
  const named = /'(?:[A-Z]+ )?(\/v1\/[^'\s]*)'/g
  const own = new Map<string, Set<string>>()
  const code = files.filter((file) => file.startsWith('server/') && !isTest(file))
  for (const file of code)
    for (const [, path = ''] of (textOf.get(file) ?? '').matchAll(registered))
      own.set(path, (own.get(path) ?? new Set()).add(roomOf(file)))
  const wrong = code
    .filter((file) => !namesRoutes.includes(file))
    .flatMap((file) => [...(textOf.get(file) ?? '').matchAll(named)].map(([, path = '']) => ({ file, path })))
    .filter(({ file, path }) => own.get(path)?.has(roomOf(file)) === false)
  expect(own.size).toBeGreaterThan(100)
  expect(wrong.map(({ file, path }) => `${file} names ${path}`)).toEqual([])
})

test('tests beside the code stay in their room and its neighbors', () => {
  const wrong = edges
    .filter(({ file }) => isTest(file) && !file.startsWith('test/'))
    .filter(({ file, target }) => {
      const [room] = file.split('/')
      const [targetRoom = ''] = (target ?? '').split('/')
      // All tests share waiting and the browser; server tests may dial the simulator and build an application.
      if (target === 'test/until.ts' || target === 'test/browser.ts') return false
      const allowed = room === 'server' ? ['server', 'smpp', 'simulator'] : allowedFor(partOf(file))
      return target !== null && allowed?.includes(targetRoom) === false && !allowed.includes(partOf(target))
    })
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
})

test('other rooms enter smpp, the simulator and the SDK by their index, and browsers smpp by its texts', () => {
  const doors = ['smpp', 'simulator', 'sdk']
  const wrong = edges.filter(
    ({ file, target }) =>
      target !== null &&
      !isTest(file) &&
      doors.some((door) => target.startsWith(`${door}/`) && !file.startsWith(`${door}/`)) &&
      !['index.ts', 'text.ts'].includes(basename(target)),
  )
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
})

test('only tests import test code', () => {
  const wrong = edges.filter(({ file, target }) => target !== null && isTest(target) && !isTest(file))
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
})

test('every export of a file is imported elsewhere', () => {
  const named = /^(?:import|export)\s(?:type\s)?\s*\{([^}]*)\}\s*from\s*'([^']+)'/gm
  const whole = /\bimport\(\s*'([^']+)'|^export\s\*\s*from\s*'([^']+)'|\bnew URL\('([^']+\.ts)'/gm
  const wanted = new Set<string>()
  for (const [file, text] of textOf) {
    for (const [, names = '', module = ''] of text.matchAll(named))
      for (const [, name] of names.matchAll(/(?:^|,)\s*(?:type\s)?([\w$]+)/g))
        wanted.add(`${resolveOurs(file, module)} exports ${name}`)
    for (const [, ...modules] of text.matchAll(whole)) wanted.add(String(resolveOurs(file, modules.join(''))))
  }
  // Other programs may use exports of smpp and the SDK that we do not; a type is exported with its function.
  const unused = files
    .filter((file) => !/^(smpp|sdk)\//.test(file) && !wanted.has(file))
    .flatMap((file) =>
      [...(textOf.get(file) ?? '').matchAll(/^export (?:async )?(?:function\*?|const|let|class) ([\w$]+)/gm)].map(
        ([, name]) => `${file} exports ${name}`,
      ),
    )
    .filter((one) => !wanted.has(one))
  expect(unused).toEqual([])
})

test('smpp and the simulator use nothing from npm, and the SDK nothing of Node.js either', () => {
  const wrong = edges.filter(
    ({ file, name, target }) =>
      /^(smpp|simulator|sdk)\//.test(file) &&
      !isTest(file) &&
      target === null &&
      (file.startsWith('sdk/') || !name.startsWith('node:')),
  )
  expect(wrong.map(({ file, name }) => `${file} imports ${name}`)).toEqual([])
})

test('only config.ts reads the environment, besides one file each of the command line and the assistant', () => {
  const readers = files.filter(
    (file) =>
      !isTest(file) && !/^(scripts|simulator)\//.test(file) && /\bprocess\s*\.\s*env\b/.test(textOf.get(file) ?? ''),
  )
  expect(readers).toEqual(['cli/environment.ts', 'mcp/connection.ts', 'server/program/config.ts'])
})

test('tools that read change nothing, and tools that act can be repeated by a key', () => {
  const harmless = ['previewMessage', 'checkOptOuts']
  const called = (folder: string): OperationName[] =>
    files
      .filter((file) => file.startsWith(folder) && !isTest(file))
      .flatMap((file) => [...(textOf.get(file) ?? '').matchAll(/\.call\('(\w+)'|operation: '(\w+)'/g)])
      .map(([, name, other]) => (name ?? other) as OperationName)
  const changes = (name: OperationName): boolean => !routes[name].startsWith('GET ') && !harmless.includes(name)
  expect(called('mcp/tools/').length).toBeGreaterThan(20)
  expect(called('mcp/tools/').filter(changes)).toEqual([])
  const acts = called('mcp/acts/').filter(changes)
  expect(acts.length).toBeGreaterThan(10)
  expect(acts.filter((name) => !keyed.has(name))).toEqual([])
})

test('only db/clock.ts reads this machine’s time', () => {
  // Deletion by age uses the earlier of both clocks, so that neither deletes early.
  const exempt = [
    'server/ground/db/clock.ts',
    'server/privacy/retention-account.ts',
    'server/privacy/retention-days.ts',
  ]
  const asking = files.filter(
    (file) => file.startsWith('server/') && !isTest(file) && /Date\.now\(|new Date\(\)/.test(textOf.get(file) ?? ''),
  )
  expect(asking).toEqual(exempt)
})

test('paths of our files come from fileURLToPath: a pathname has %20 for a blank', () => {
  const wrong = files.filter((file) => /import\.meta\.url\)\s*\.pathname/.test(textOf.get(file) ?? ''))
  expect(wrong).toEqual([])
})

test('no room or file is a drawer without a subject', () => {
  const drawer = /^(utils?|lib|common|helpers?|services?|models?|misc|shared)$/
  const wrong = files.filter((file) =>
    file.split('/').some((name) => drawer.test(name.replace(/(\.test)?\.tsx?$/, ''))),
  )
  expect(wrong).toEqual([])
})

test('no file is too long to read at once', () => {
  const long = files
    .map((file) => ({ file, lines: (textOf.get(file) ?? '').split('\n').length - 1 }))
    .filter(({ file, lines }) => !generated.has(file) && lines > (isTest(file) ? linesMax.test : linesMax.code))
  expect(long.map(({ file, lines }) => `${file} has ${lines} lines`)).toEqual([])
})

test('one file styles a console class: two rooms with one name would style each other', () => {
  const folder = join(root, 'console/style')
  const styled = globSync('*.css', { cwd: folder }).flatMap((file) => {
    const names = [...readFileSync(join(folder, file), 'utf8').matchAll(/^\.([a-z-]+) \{$/gm)].map(([, name]) => name)
    return [...new Set(names)].map((name) => ({ name, file }))
  })
  const twice = [...Map.groupBy(styled, ({ name }) => name)].filter(([, files]) => files.length > 1)
  expect(styled.length).toBeGreaterThan(50)
  expect(twice.map(([name, files]) => `${name} in ${files.map(({ file }) => file).join(' and ')}`)).toEqual([])
})

test('a room’s style sheet styles only its own classes, and no element or part that others have too', () => {
  const folder = join(root, 'console/style')
  const named = (text: string): string[] => [...text.matchAll(/\.([a-z][a-z-]*)/g)].map(([, name = '']) => name)
  const sheets = globSync('*.css', { cwd: folder }).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8').replace(/\/\*.*?\*\/|@media[^{]*\{/gs, '')
    return {
      file,
      selectors: [...text.matchAll(/([^{}@;]+)\{/g)].flatMap(([, all = '']) => all.trim().split(/,\n\s*/)),
    }
  })
  const whole = readFileSync(join(folder, 'console.css'), 'utf8')
  const shared = [...whole.matchAll(/@import '\.\/([^']+)'/g)].map(([, file]) => file ?? '')
  const everywhere = new Set(
    sheets.filter(({ file }) => shared.includes(file)).flatMap((one) => named(one.selectors.join())),
  )
  const rooms = sheets.filter(({ file }) => ![...shared, 'console.css'].includes(file))
  const wrong = rooms.flatMap(({ file, selectors }) =>
    selectors
      .filter((selector) => named(selector).every((name) => everywhere.has(name)))
      .map((selector) => `${file} dresses ${selector}`),
  )
  expect(rooms.length).toBeGreaterThan(4)
  expect(wrong).toEqual([])
})

test('the database has no triggers and no functions of ours: all behavior is in TypeScript', () => {
  const folder = join(root, 'server/ground/db/migrations')
  const wrong = globSync('*.sql', { cwd: folder }).filter((file) =>
    /\bcreate\s+(or\s+replace\s+)?(constraint\s+)?(trigger|function|procedure|rule)\b/i.test(
      readFileSync(join(folder, file), 'utf8'),
    ),
  )
  expect(wrong).toEqual([])
})

test('each migration has its own number: two with one number would have no defined order', () => {
  const numbers = globSync('server/ground/db/migrations/*.sql', { cwd: root }).map((file) =>
    Number(/(\d{4})_[^/]*$/.exec(file)?.[1]),
  )
  expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([])
  expect(numbers).not.toEqual([])
})

/** Tables with several writers: every stage moves a message's row and its queues. */
const shared: Record<string, readonly string[]> = {
  accounts: ['accounts', 'post'],
  attempts: ['post', 'webhooks'],
  campaigns: ['broadcasts', 'campaigns', 'contacts'],
  carriers: ['links', 'program'],
  conversations: ['conversations', 'privacy'],
  delayed: ['accept', 'ledger', 'messages', 'queue', 'quiet-hours'],
  discards: ['accept', 'privacy'],
  idempotency_keys: ['accept', 'ground/http', 'privacy'],
  intents: ['accept', 'queue'],
  lanes: ['inbound', 'queue'],
  messages: ['accept', 'inbound', 'ledger', 'message', 'messages', 'privacy', 'queue', 'quiet-hours', 'short-links'],
  outbox: ['events', 'post', 'webhooks'],
  outcomes: ['ledger', 'messages', 'privacy', 'queue'],
  queue: ['accept', 'inbound', 'ledger', 'messages', 'queue', 'quiet-hours'],
  receipts: ['ledger', 'privacy'],
  received_posts: ['post', 'webhooks'],
  replays: ['post', 'webhooks'],
  reply_hashes: ['http-carriers', 'inbound'],
  routes_version: ['rates', 'routes'],
  smpp_gatherings: ['ground/sealing', 'smpp-server'],
  webhooks: ['post', 'webhooks'],
}

test('one room writes a table, except the tables listed here', () => {
  const tables = globSync('server/ground/db/migrations/*.sql', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^create table (\w+)/gm)].map((match) => match[1] ?? ''),
  )
  const write = new RegExp(`\\b(?:insert into|update|delete from) (${tables.join('|')})\\b`, 'g')
  const writers = new Map<string, Set<string>>()
  // A restore has its database to itself: it ends the work of earlier processes.
  const code = files.filter((file) => /^server\/(?!program\/commands\/backup\/)/.test(file) && !isTest(file))
  for (const file of code)
    for (const [, table = ''] of (textOf.get(file) ?? '').matchAll(write))
      writers.set(table, (writers.get(table) ?? new Set()).add(roomOf(file)))
  const several = [...writers].filter(([, rooms]) => rooms.size > 1)
  expect(writers.size).toBeGreaterThan(20)
  expect(Object.fromEntries(several.map(([table, rooms]) => [table, [...rooms].sort()]))).toEqual(shared)
})
