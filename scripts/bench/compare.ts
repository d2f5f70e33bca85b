/** `npm run bench`: Heliogram in ratios to what people run today, measured in turns in one run on one machine. */
import { compareAccept } from './accept.ts'
import { measureBacklogs } from './backlog.ts'
import { compareBroadcasts } from './broadcast.ts'
import { cores, fromAround } from './cores.ts'
import { compareImports } from './imports.ts'
import { accountCount, compareAccounts } from './accounts.ts'
import { compareDays, keptDays } from './days.ts'
import { readKannelVersion } from './kannel.ts'
import { measureLists } from './lists.ts'
import { readOptions } from './options.ts'
import { compareLow, comparePairs } from './pair.ts'
import { renderReport, writeReport, type Figures, type Section } from './report.ts'
import { compareSessions } from './session.ts'
import { measureProcesses } from './processes.ts'
import { measureSinkLimit } from './sinklimit.ts'
import { measureFairness } from './fair.ts'
import { measureWebhooks } from './webhooks.ts'

// Child processes end with this one, also on interruption.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const options = readOptions()
const isWanted = (part: NonNullable<typeof options.only>) => options.only === undefined || options.only === part
const sections: Section[] = []
const figures: Figures[] = []
const facts: string[] = []
if (cores) facts.push(`the product runs on core ${cores.product}, everything around it on core ${cores.around}`)

const besides = options.memory === 'normal' ? '' : `, HELIOGRAM_MEMORY=${options.memory}`
const describeMemory = (mb: number): string =>
  `Peak memory of Heliogram's process: ${Math.round(mb)} MB (HELIOGRAM_MEMORY=${options.memory}).`

if (isWanted('pair')) {
  const sinkPerSecond = await measureSinkLimit(3_000_000)
  if (sinkPerSecond < 200_000)
    throw new Error(`the sink takes only ${Math.round(sinkPerSecond)}/s: it would be what is measured`)
  facts.push(`the carrier of the runs takes ${Math.round(sinkPerSecond / 1000)}k submits/s by itself`)
  const { rows, memoryMb } = await fromAround(() => comparePairs(options))
  sections.push({
    title: `End to end, against Kannel${besides}`,
    ours: 'Heliogram',
    theirs: `Kannel ${readKannelVersion()}, file store`,
    notes: [
      `One HTTP request and one callback per message, SMPP window 1000, ${options.connections} connections, runs of about ${options.seconds} s, ${options.pairs} pairs.`,
      describeMemory(memoryMb),
    ],
    rows,
  })
}
if (isWanted('low')) {
  sections.push({
    title: `Idle and at low rates, against Kannel${besides}`,
    ours: 'Heliogram',
    theirs: `Kannel ${readKannelVersion()}, file store`,
    notes: [
      `End to end as above, ${options.pairs} pairs of runs of ${options.seconds} s for each rate; the CPU of twenty seconds of rest just before is taken off.`,
    ],
    rows: await fromAround(() => compareLow(options)),
  })
}
if (isWanted('broadcast')) {
  const { rows, memoryMb, figures: rest } = await fromAround(() => compareBroadcasts(options))
  sections.push({
    title: `Broadcasts, against Kannel${besides}`,
    ours: 'Heliogram',
    theirs: `Kannel ${readKannelVersion()}, file store`,
    notes: [
      `SMPP window 1000; callbacks of up to 200, after 100 ms at most; Kannel over ${options.connections} connections; ${options.pairs} pairs.`,
      describeMemory(memoryMb),
    ],
    rows,
  })
  figures.push({ title: 'Broadcasts', notes: [], rows: rest })
}
if (isWanted('backlog')) {
  figures.push({
    title: 'A backlog',
    notes: [`Accepted while the carrier was away, then sent from the queue, ${options.pairs} times.`],
    rows: await fromAround(() => measureBacklogs(options)),
  })
}
// A loaded server has hundreds of connections, a single client only a few.
const loadedConnections = 256
const rivals = [
  ['same server', 'the same server with one INSERT per request', 'one INSERT each', options.connections],
  [
    'same server',
    `the same server with one INSERT per request, over ${loadedConnections} connections`,
    'one INSERT each',
    loadedConnections,
  ],
  ['insert', 'one INSERT per request', 'Fastify + pg', options.connections],
  ['insert', `one INSERT per request, over ${loadedConnections} connections`, 'Fastify + pg', loadedConnections],
  ['insert, slow fsync', 'one INSERT per request, each fsync 1 ms slower', 'Fastify + pg', options.connections],
  ['no database', 'a server that stores nothing', 'Fastify', options.connections],
] as const
for (const [rival, title, theirs, connections] of isWanted('accept') ? rivals : []) {
  sections.push({
    title: `Durable accept, against ${title}${besides}`,
    ours: 'Heliogram',
    theirs,
    notes: [
      `${connections} connections, ${options.pairs} pairs; the same PostgreSQL, nothing submitted; every 202 was found stored.`,
    ],
    rows: await fromAround(() => compareAccept({ ...options, connections }, rival)),
  })
}
if (isWanted('session')) {
  sections.push({
    title: 'SMPP session, against npm smpp',
    ours: 'Heliogram',
    theirs: 'npm smpp 0.5.1',
    notes: [`Both ends in one process on loopback, 1000 outstanding, ${options.pairs} pairs.`],
    rows: await compareSessions(options.pairs),
  })
}
if (isWanted('imports')) {
  const { rows, figures: rest } = await compareImports(options)
  sections.push({
    title: 'Imports, against csv-parse, libphonenumber-js and one INSERT a row',
    ours: 'Heliogram',
    theirs: 'csv-parse + libphonenumber-js + pg',
    notes: [
      `A CSV of a million rows with five columns, from the first byte of the request to the end of the import, ${options.pairs} pairs; theirs with 50,000 ` +
        'rows of a local file. Every row was found to be a contact.',
    ],
    rows,
  })
  figures.push({ title: 'Imports', notes: [], rows: rest })
}
if (isWanted('fair')) {
  figures.push({
    title: 'Fairness',
    notes: [
      `One account sends 20 codes a second, each a request; another keeps 4 batches of 10,000 messages, 20 exports and 6 imports of 100,000 rows under way. In turns, ${options.pairs} windows of ${options.seconds} s of each; request to 202, with nobody to submit to.`,
    ],
    rows: await fromAround(() => measureFairness(options)),
  })
}
if (isWanted('lists')) {
  figures.push({
    title: 'Lists',
    notes: [
      `An account with eight of ten of ${options.messages.toLocaleString('en-US')} messages of ten days, over HTTP, one request at a time.`,
    ],
    rows: await measureLists(options),
  })
}
if (isWanted('days')) {
  sections.push({
    title: `With the partitions of ${keptDays} days`,
    ours: `${keptDays} days`,
    theirs: 'a new database',
    notes: [
      `The same program over both, end to end as above, over ${options.pairs} pairs; requests one at a time, the median of twenty. The days before today are empty.`,
    ],
    rows: await fromAround(() => compareDays(options)),
  })
}
if (isWanted('accounts')) {
  sections.push({
    title: `With ${accountCount.toLocaleString('en-US')} accounts`,
    ours: `${accountCount.toLocaleString('en-US')} accounts`,
    theirs: 'one account',
    notes: [
      `The same program with both, end to end as above, over ${options.pairs} pairs; a third of the accounts have guards, another quiet hours. Their messages come in turns, so that no two of a batch are of one account.`,
    ],
    rows: await fromAround(() => compareAccounts(options)),
  })
}
if (isWanted('processes')) {
  figures.push({
    title: 'Several processes on one database',
    notes: [
      `Each has all roles, and the ${options.connections} connections are spread over them; one has the link. All share the product's cores: only the cost of a message grows. Medians of ${options.pairs} runs.`,
    ],
    rows: await fromAround(() => measureProcesses(options)),
  })
}
if (isWanted('webhooks')) {
  figures.push({
    title: 'Webhooks',
    notes: [
      'The program with all its roles, and a thousand endpoints, each an origin of its own; a tenth of them take connections and never answer. Another process records the events.',
    ],
    rows: await measureWebhooks(options),
  })
}

if (sections.length + figures.length + facts.length > 0) {
  const report = renderReport(sections, figures, facts)
  console.log(`\n${report}`)
  if (options.isWritten) writeReport(report, options.only === undefined)
}
