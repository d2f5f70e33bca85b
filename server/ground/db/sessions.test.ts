import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Client } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import type { Connection } from './db.ts'
import type { Log } from './log.ts'
import { openDatabase } from './open.ts'
import { requireSessions } from './sessions.ts'
import { atEnd, createTestDatabase, type TestDatabase } from './testing.ts'

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }
let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})

test('accepts connections that are sessions', async () => {
  await expect(requireSessions(database.connection)).resolves.toBeUndefined()
})

test('accepts a pooler in session mode', async () => {
  await expect(requireSessions(await openPooler({ mode: 'session', size: 3 }))).resolves.toBeUndefined()
})

test.each([1, 2, 3])('refuses to start behind a pooler in transaction mode that has %i sessions', async (size) => {
  for (const order of ['last', 'first'] as const) {
    const { host, port } = await openPooler({ mode: 'transaction', size, order })
    const opened = openDatabase(`postgres://anybody@${host}:${port}/any`, 'no folder', silent)
    await expect(opened).rejects.toThrow(/a pooler shares its sessions.*name PostgreSQL itself in DATABASE_URL/)
  }
})

/** A client that waits for a pooler's session, or has it. */
interface Caller {
  socket: Socket
  session: Socket | null
  /** Statements that wait for one. */
  waiting: Buffer[]
}

/** A pooler like PgBouncer over the test's database: it accepts everybody, and reuses the session that was returned last, or first. */
async function openPooler(options: {
  mode: 'session' | 'transaction'
  size: number
  order?: 'last' | 'first'
}): Promise<Connection> {
  const { mode, size, order = 'last' } = options
  const idle: Socket[] = []
  const callers: Caller[] = []
  const serve = (): void => {
    for (const caller of callers) {
      if (caller.waiting.length === 0) continue
      caller.session ??= (order === 'last' ? idle.pop() : idle.shift()) ?? null
      if (caller.session) for (const query of caller.waiting.splice(0)) caller.session.write(query)
    }
  }
  for (let i = 0; i < size; i++) {
    const client = new Client(database.connection)
    await client.connect()
    atEnd(() => client.end())
    const session = (client as unknown as { connection: { stream: Socket } }).connection.stream
    session.removeAllListeners('data')
    onMessages(session, (type, message) => {
      const caller = callers.find((one) => one.session === session)
      caller?.socket.write(message)
      // Ready, and in no transaction.
      if (!caller || type !== 'Z' || message.at(-1) !== 'I'.charCodeAt(0) || mode === 'session') return
      caller.session = null
      idle.push(session)
      serve()
    })
    idle.push(session)
  }
  const server: Server = createServer((socket) => {
    const caller: Caller = { socket, session: null, waiting: [] }
    callers.push(caller)
    socket.on('error', () => {})
    socket.once('data', () => {
      // No password: AuthenticationOk, ReadyForQuery.
      socket.write(Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1'))
      onMessages(socket, (type, message) => {
        if (type === 'Q') caller.waiting.push(message)
        serve()
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  const { port } = server.address() as AddressInfo
  return { host: '127.0.0.1', port, user: 'anybody', password: '', database: 'any', ssl: false }
}

/** Splits received data into messages (PostgreSQL manual, §55.7): a letter, and the length of the rest. */
function onMessages(socket: Socket, take: (type: string, message: Buffer) => void): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1)
      take(String.fromCharCode(rest[0] ?? 0), rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
}
