import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { Newcomers } from './newcomers.ts'

test('a network has its full number of new connections, however many came and went', async () => {
  const newcomers = new Newcomers(2, () => 'one network')
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const near: Socket[] = []
  const arrive = async (): Promise<Socket> => {
    const [[socket]] = await Promise.all([
      once(server, 'connection') as Promise<[Socket]>,
      new Promise((resolve) => near.push(connect(port, '127.0.0.1', () => resolve(null)))),
    ])
    return socket
  }
  const [first, second, third, fourth] = [await arrive(), await arrive(), await arrive(), await arrive()]
  expect([newcomers.enter(first), newcomers.enter(second), newcomers.enter(third)]).toEqual([true, true, false])
  newcomers.leave(first)
  expect([newcomers.enter(third), newcomers.enter(fourth)]).toEqual([true, false])
  const gone = once(second, 'close')
  second.destroy()
  await gone
  expect([newcomers.enter(fourth), newcomers.enter(first)]).toEqual([true, false])
  for (const socket of [...near, first, third, fourth]) socket.destroy()
  await once(server.close(), 'close')
})
