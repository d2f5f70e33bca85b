import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { until } from '../../test/until.ts'
import { Presence } from './presence.ts'

it('marks data that waited in a socket while the process was frozen', async () => {
  const presence = new Presence()
  const absences: number[] = []
  const server = createServer((socket) => socket.on('data', () => absences.push(presence.absentMs)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('before')
  await until('it is read', () => absences.length === 1)
  await until('it is there', () => presence.absentMs < 100)
  // The kernel has it at once; the process reads it a second later.
  socket.write('meanwhile')
  const end = performance.now() + 1000
  while (performance.now() < end);
  await until('it is read', () => absences.length === 2)
  await until('it is there again', () => presence.absentMs < 500)
  expect(absences[1]).toBeGreaterThan(900)
  presence.close()
  socket.destroy()
  server.close()
})
