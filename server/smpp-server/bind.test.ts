import { connectSession, encodePdu, ESME, SessionError } from '@heliogram/smpp'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { hashPassword } from '../accounts/login/password.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import { forgetSessions, readAdmissions } from './admission.ts'
import { isAllowedFrom } from './bind.ts'
import { deleteCredential, findCredential, replacePassword, updateCredential } from './credential.ts'
import { createTestCredential, openServerTest, password, type TestClient, type TestCredential } from './testing.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openServerTest)

describe('a bind', () => {
  it.each(['transmitter', 'receiver', 'transceiver'] as const)('as %s is answered with our name', async (mode) => {
    const credential = await test.credential()
    const { session } = await test.bind(credential, { mode })
    expect(session.peerSystemId).toBe('heliogram')
    expect(await sessionsOf(credential)).toBe(1)
    await session.unbind(1000)
    await until('its place is free', async () => (await sessionsOf(credential)) === 0)
  })

  it('with a wrong password or an unknown name gets the same refusal, and is slowed down', async () => {
    const credential = await test.credential()
    expect(await refusal(test.bind(credential, { password: 'wrong' }))).toBe(ESME.RINVPASWD)
    expect(await refusal(test.bind({ systemId: 'nobody' }))).toBe(ESME.RINVPASWD)
    for (let i = 0; i < 5; i++) await refusal(test.bind(credential, { password: `wrong${i}` }))
    expect(await refusal(test.bind(credential, { password: 'wrong' }))).toBe(ESME.RBINDFAIL)
    // Names do not affect each other, and a right password after the delay resets the count.
    expect(await refusal(test.bind(await test.credential()))).toBe(0)
    await test.sql`update login_failures set last_at = last_at - interval '1 hour'`
    expect(await refusal(test.bind(credential))).toBe(0)
    expect(await refusal(test.bind(credential))).toBe(0)
  })

  it('of many sessions at once is not guessing', async () => {
    const credential = await test.credential({ sessionsMax: 12 })
    expect(await Promise.all(Array.from({ length: 12 }, () => refusal(test.bind(credential))))).toEqual(
      Array(12).fill(0),
    )
  })

  it('above its credential’s sessions is refused, on any node', async () => {
    const credential = await test.credential({ sessionsMax: 2 })
    const nodeId = await insertNode()
    await insertSession(credential, nodeId)
    const outcomes = await Promise.all([refusal(test.bind(credential)), refusal(test.bind(credential))])
    expect(outcomes.sort()).toEqual([0, ESME.RALYBND])
    // A dead node has no sessions.
    await test.sql`update nodes set fenced_at = now() where id = ${nodeId}`
    expect(await refusal(test.bind(credential))).toBe(0)
  })

  it('above its account’s sessions is refused, and others’ are not', async () => {
    const server = await openServerTest(test.db, { accountId: test.accountId, accountSessionsMax: 3 })
    const clients: TestClient[] = []
    const open = (credential: TestCredential): Promise<number> =>
      refusal(server.bind(credential).then((client) => (clients.push(client), client)))
    try {
      const [first, second] = [await test.credential(), await test.credential()]
      const outcomes = await Promise.all([first, first, second, second, second].map(open))
      expect(outcomes.toSorted((a, b) => a - b)).toEqual([0, 0, 0, ESME.RALYBND, ESME.RALYBND])
      const other = newId()
      await test.sql`insert into accounts (id, name) values (${other}, 'Other')`
      expect(await open(await createTestCredential(test.db, other))).toBe(0)
      await clients[0]?.session.unbind(1000)
      await until('there is room again', async () => (await open(second)) === 0)
    } finally {
      await server.close()
    }
    const lines = server.lines.filter(({ fields }) => fields['reason'] === 'account_sessions')
    expect(lines.length).toBeLessThanOrEqual(2)
    expect(lines[0]).toMatchObject({ level: 'warn', message: 'SMPP bind refused' })
  })

  it('is awaited on ten connections of a network at a time, not counting bound ones', async () => {
    const credential = await test.credential({ sessionsMax: 12 })
    for (let n = 0; n < 12; n++) expect(await refusal(test.bind(credential))).toBe(0)
    const sockets = Array.from({ length: 12 }, () => connect(test.port, '127.0.0.1'))
    let closed = 0
    for (const socket of sockets) socket.on('error', () => {}).on('close', () => closed++)
    await until('two are closed as they come', () => closed === 2)
    await until('that is told', () =>
      test.lines.some(
        ({ message, fields }) => message === 'SMPP connections refused' && fields['limit'] === 'newcomers',
      ),
    )
    for (const socket of sockets) socket.destroy()
    await until(
      'others are let in',
      async () => (await refusal(test.bind(await test.credential())).catch(() => -1)) === 0,
    )
  })

  it('has its node’s part of the pace, by sessions', async () => {
    const credential = await test.credential()
    for (let n = 0; n < 3; n++) await test.bind(credential)
    await insertSession(credential, await insertNode())
    expect((await readAdmissions(test.db, test.nodeId)).get(credential.id)?.share).toBe(0.75)
  })

  it('that was refused for a lost response to its commit returns its place within minutes', async () => {
    const credential = await test.credential()
    const kept = await insertSession(credential, test.nodeId)
    await insertSession(credential, test.nodeId)
    const others = await insertSession(credential, await insertNode())
    await test.sql`update smpp_sessions set bound_at = now() - interval '61 seconds'`
    const young = await insertSession(credential, test.nodeId)
    await forgetSessions(test.db, test.nodeId, [kept])
    const rows = await test.sql<{ id: string }>`select id from smpp_sessions order by id`
    expect(rows.map(({ id }) => id)).toEqual([kept, others, young])
  })

  it('of a client that left before its password was checked takes no place', async () => {
    const { id, systemId: system_id } = await test.credential({ sessionsMax: 1 })
    const socket = connect(test.port, '127.0.0.1')
    socket.end(encodePdu({ command: 'bind_transceiver', system_id, password, interface_version: 0x34 }))
    await until('it was let in', () =>
      test.count('smpp_credentials', 'id = $1 and last_bound_at is not null', [id]).then(Boolean),
    )
    await until('its place is free', async () => (await test.count('smpp_sessions', 'true')) === 0)
  })

  it('also has its part of the pace on a node that was fenced and does not know it yet', async () => {
    const credential = await test.credential()
    await test.bind(credential)
    await test.sql`update nodes set fenced_at = now() where id = ${test.nodeId}`
    expect((await readAdmissions(test.db, test.nodeId)).get(credential.id)?.share).toBe(1)
  })

  it('from another network, with a disabled credential, or of a suspended account is refused', async () => {
    expect(await refusal(test.bind(await test.credential({ allowedCidrs: ['192.0.2.0/24', '::1/128'] })))).toBe(
      ESME.RBINDFAIL,
    )
    expect(await refusal(test.bind(await test.credential({ allowedCidrs: ['127.0.0.0/8'] })))).toBe(0)
    expect(await refusal(test.bind(await test.credential({ enabled: false })))).toBe(ESME.RBINDFAIL)
    const credential = await test.credential()
    await test.sql`update accounts set status = 'suspended' where id = ${test.accountId}`
    expect(await refusal(test.bind(credential))).toBe(ESME.RBINDFAIL)
  })

  it('twice on one session is refused, and data that is not SMPP ends the connection', async () => {
    const socket = connect(test.port, '127.0.0.1')
    const closed = new Promise<Buffer>((resolve) => {
      let received = Buffer.alloc(0)
      socket.on('data', (chunk) => (received = Buffer.concat([received, chunk])))
      socket.on('close', () => resolve(received))
    })
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    // generic_nack with ESME_RINVCMDLEN
    expect((await closed).subarray(0, 12).toString('hex')).toBe('000000108000000000000002')
    expect(await refusal(test.bind(await test.credential()))).toBe(0)
  })

  it('as a receiver may not submit, and a submit before a bind is refused', async () => {
    const { session } = await test.bind(await test.credential(), { mode: 'receiver' })
    expect(session.submit({ destination_addr: '15551230001' }, 1)).toBe(false)
    const unbound = connectSession<number>({
      host: '127.0.0.1',
      port: test.port,
      windowMax: 1,
      bind: { mode: 'transceiver', system_id: 'nobody', password: 'x' },
    })
    expect(unbound.submit({ destination_addr: '15551230001' }, 1)).toBe(false)
    await expect(unbound.whenBound()).rejects.toThrow()
  })
})

describe('a credential', () => {
  const changes: [string, (credential: TestCredential) => Promise<unknown>][] = [
    [
      'disabled',
      ({ accountId, id }) => inTransaction(test.db, (tx) => updateCredential(tx, accountId, id, { enabled: false })),
    ],
    ['deleted', ({ accountId, id }) => inTransaction(test.db, (tx) => deleteCredential(tx, accountId, id))],
    [
      'given another password',
      async ({ accountId, id }) => {
        const hash = await hashPassword('other')
        await inTransaction(test.db, (tx) => replacePassword(tx, accountId, id, hash))
      },
    ],
    [
      'kept to another network',
      ({ accountId, id }) =>
        inTransaction(test.db, (tx) => updateCredential(tx, accountId, id, { allowedCidrs: ['192.0.2.0/24'] })),
    ],
    [
      'of a suspended account',
      ({ accountId }) => test.sql`update accounts set status = 'suspended' where id = ${accountId}`,
    ],
  ]

  it.each(changes)('that is %s loses its sessions within five seconds', async (_name, change) => {
    const credential = await test.credential()
    const [{ session: kept }, { session }] = [await test.bind(await test.credential()), await test.bind(credential)]
    await change(credential)
    await until('the session is over', () => session.state === 'closed')
    expect(session.closeReason).toBe('peer_unbound')
    if (!_name.includes('account')) expect(kept.state).toBe('bound')
  })

  it('is followed while its sessions are bound', async () => {
    const credential = await test.credential({ pace: 1000 })
    const client = await test.bind(credential)
    await inTransaction(test.db, (tx) => updateCredential(tx, credential.accountId, credential.id, { pace: 0.1 }))
    const hello = { short_message: Buffer.from('Hello') }
    await until('it is throttled', async () => (await client.submit(hello)).status === ESME.RTHROTTLED)
  })
})

describe('the server', () => {
  it('answers earlier submits before it unbinds', async () => {
    const client = await test.bind(await test.credential())
    const answers = Promise.all(
      Array.from({ length: 20 }, () => client.submit({ short_message: Buffer.from('Hello') })),
    )
    await until('some have come', async () => (await test.count('messages', 'true')) > 0)
    await test.server.close()
    expect((await answers).every(({ status }) => status === ESME.ROK)).toBe(true)
    expect(client.session.closeReason).toBe('peer_unbound')
    expect(await refusal(test.bind(await test.credential()))).toBe(0)
  })
})

it.each<[string, string[], boolean]>([
  ['127.0.0.1', [], true],
  ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
  ['10.1.2.3', ['2001:db8::/32', '10.0.0.0/8'], true],
  ['2001:db8::1', ['10.0.0.0/8'], false],
  ['', ['0.0.0.0/0'], false],
])('an address %s is in %j: %s', (address, cidrs, isAllowed) => {
  expect(isAllowedFrom(cidrs, address)).toBe(isAllowed)
})

/** The command_status of a refused bind; 0 if accepted. */
async function refusal(binding: Promise<TestClient>): Promise<number> {
  try {
    await binding
    return 0
  } catch (error) {
    if (error instanceof SessionError) return error.bindStatus
    throw error
  }
}

async function insertNode(): Promise<string> {
  const nodeId = newId()
  await test.sql`insert into nodes (id, name) values (${nodeId}, 'other')`
  return nodeId
}

/** A session of another process. */
async function insertSession({ accountId, id }: TestCredential, nodeId: string): Promise<string> {
  const sessionId = newId()
  await test.sql`insert into smpp_sessions (id, account_id, credential_id, node_id, mode, address)
    values (${sessionId}, ${accountId}, ${id}, ${nodeId}, 'transceiver', '127.0.0.1')`
  return sessionId
}

const sessionsOf = async ({ accountId, id }: TestCredential): Promise<number> =>
  (await findCredential(test.db, accountId, id))?.sessions ?? 0
