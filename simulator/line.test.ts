import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { COMMANDS, HEADER_OCTETS } from '@heliogram/smpp'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Faults, faultlessOf } from './faults.ts'
import { writeHeader } from './header.ts'
import { Line } from './line.ts'
import { settingsOf } from './options.ts'
import { until } from './testing.ts'

let server: Server
let ours: Socket
let theirs: Socket
let heard: Buffer

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  theirs = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [accepted] = (await once(server, 'connection')) as [Socket]
  ours = accepted
  heard = Buffer.alloc(0)
  theirs.on('data', (chunk: Buffer) => (heard = Buffer.concat([heard, chunk])))
})
afterEach(() => {
  theirs.destroy()
  ours.destroy()
  server.close()
})

const names = ['enquire_link', 'enquire_link_resp', 'submit_sm_resp', 'unbind_resp'] as const

it.each<[Partial<Faults>, string[]]>([
  [{}, ['enquire_link_resp 1', 'submit_sm_resp 2', 'unbind_resp 3', 'submit_sm_resp 4']],
  [{ enquire: 'silent' }, ['submit_sm_resp 2', 'unbind_resp 3', 'submit_sm_resp 4']],
  [{ enquire: 'echo' }, ['enquire_link 1', 'submit_sm_resp 2', 'unbind_resp 3', 'submit_sm_resp 4']],
  [{ unbind: 'silent' }, ['enquire_link_resp 1', 'submit_sm_resp 2', 'submit_sm_resp 4']],
  [{ enquire: 'silent', unbind: 'silent' }, ['submit_sm_resp 2', 'submit_sm_resp 4']],
])('with %j omits exactly what it must not say', async (faults, heardThen) => {
  openLine(faults)
  const pdus = (['enquire_link_resp', 'submit_sm_resp', 'unbind_resp', 'submit_sm_resp'] as const).map((name, n) =>
    writeHeader(COMMANDS[name].id, 0, n + 1),
  )
  ours.write(Buffer.concat(pdus))
  ours.end()
  await once(theirs, 'end')
  expect(commandsHeard()).toEqual(heardThen)
})

it('says everything, slowly, and the rest at once when it may', async () => {
  const { faults } = openLine({ octetsPerSecond: 100 })
  for (let n = 1; n <= 4; n++) ours.write(writeHeader(COMMANDS.submit_sm_resp.id, 0, n))
  await until(() => heard.length > 0, 'it begins')
  expect(heard.length).toBeLessThan(4 * HEADER_OCTETS)
  faults.octetsPerSecond = 0
  await until(() => heard.length === 4 * HEADER_OCTETS, 'all is said')
  expect(commandsHeard()).toEqual([1, 2, 3, 4].map((n) => `submit_sm_resp ${n}`))
})

it('that is dead says nothing, and accepts data', async () => {
  const { line } = openLine({})
  const came: Buffer[] = []
  ours.on('data', (chunk: Buffer) => came.push(chunk))
  line.kill()
  expect(ours.write(writeHeader(COMMANDS.submit_sm_resp.id, 0, 1))).toBe(true)
  theirs.end(Buffer.alloc(100_000))
  await once(ours, 'end')
  ours.end()
  await once(theirs, 'end')
  expect([heard.length, came]).toEqual([0, []])
})

function openLine(faults: Partial<Faults>): { line: Line; faults: Faults } {
  const all = { ...faultlessOf(settingsOf({})), ...faults }
  return { line: new Line(ours, all), faults: all }
}

const commandsHeard = (): string[] =>
  Array.from({ length: heard.length / HEADER_OCTETS }, (_, n) => {
    const id = heard.readUInt32BE(n * HEADER_OCTETS + 4)
    const name = names.find((one) => COMMANDS[one].id === id)
    return `${name} ${heard.readUInt32BE(n * HEADER_OCTETS + 12)}`
  })
