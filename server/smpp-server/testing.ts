/** For tests: the SMPP server over the ledger of one account, credentials, and bound clients. */
import {
  connectSession,
  ESME,
  type BindFields,
  type MessageRequest,
  type Outcome,
  type Respond,
  type Session,
} from '@heliogram/smpp'
import { hashPassword } from '../accounts/login/password.ts'
import { testVault } from '../accounts/testing.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { atEnd } from '../ground/db/testing.ts'
import type { Acceptor } from '../accept/accept.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { credentialDefaults, insertCredential, newSystemId, type CredentialSettings } from './credential.ts'
import { ensureCursor } from './event-cursor.ts'
import { ClientServer } from './server.ts'

export const password = 'Secret12'

/** Its password is `password`. */
export interface TestCredential {
  accountId: string
  id: string
  systemId: string
}

/** No node leases messages: the test plays the carrier. */
export interface ServerTest extends LedgerTest {
  server: ClientServer
  port: number
  /** Log lines, newest last. */
  lines: { level: 'info' | 'warn' | 'error'; message: string; fields: Record<string, unknown> }[]
  credential(changes?: Partial<CredentialSettings>): Promise<TestCredential>
  /** A client, until the end. @throws SessionError if refused. */
  bind(credential: { systemId: string }, changes?: Partial<BindFields>): Promise<TestClient>
  /** Ends a submitted message as the carrier would. */
  end(messageId: string, state?: string, err?: string): Promise<void>
  close(): Promise<void>
}

/** Starts a server on a free port, until the end. */
export async function openServerTest(
  db: Db,
  options: {
    accountId?: string
    acceptor?: Acceptor
    responseTimeoutMs?: number
    accountSessionsMax?: number
    overload?: { readonly refusal: object | null }
  } = {},
): Promise<ServerTest> {
  const { acceptor, responseTimeoutMs, accountSessionsMax, overload, ...rest } = options
  const test = await openLedgerTest(db, rest)
  test.ownLinks.room = 1_000_000
  const lines: ServerTest['lines'] = []
  const note =
    (level: 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields: fields as Record<string, unknown> })
  const log = { info: note('info'), warn: note('warn'), error: note('error') }
  const server = new ClientServer({
    ...test.context,
    vault: testVault,
    log,
    nodeId: test.nodeId,
    acceptor: acceptor ?? test.acceptor,
    sessionsMax: 100,
    accountSessionsMax: accountSessionsMax ?? 100,
    ...(responseTimeoutMs !== undefined && { responseTimeoutMs }),
    ...(overload && { overload }),
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0, tls: null })
  atEnd(() => server.close())
  return {
    ...test,
    server,
    port,
    lines,
    bind: (credential, changes) => bindTestClient(port, credential, changes),
    credential: (changes) => createTestCredential(db, test.accountId, changes),
    async end(messageId, state = 'delivered', err = '000') {
      const handover = test.ownLinks.taken.find(({ id }) => id === messageId)
      if (!handover) throw new Error('the message was not leased')
      for (let segment = 1; segment <= handover.segments; segment++) {
        const carrierMessageId = `${messageId}/${segment}`
        const isLast = segment === handover.segments
        await test.answer(handover, { segment, carrierMessageId, ...(!isLast && { move: null }) })
        await test.ledger.receipt({
          linkId: test.linkId,
          rawId: carrierMessageId,
          matchId: carrierMessageId,
          state,
          stat: state.toUpperCase(),
          err,
          networkError: null,
          doneDate: '2611201200',
        })
      }
    },
    close: () => server.close(),
  }
}

let passwordHash: Promise<string> | undefined

/** A test file shares one hash, which takes a tenth of a second. */
export async function createTestCredential(
  db: Db,
  accountId: string,
  changes: Partial<CredentialSettings> = {},
): Promise<TestCredential> {
  passwordHash ??= hashPassword(password)
  const systemId = newSystemId()
  const settings = { ...credentialDefaults, name: 'Test', ...changes }
  const hash = await passwordHash
  const id = await inTransaction(db, async (tx) => {
    await ensureCursor(tx, accountId)
    return insertCredential(tx, accountId, { ...settings, systemId, passwordHash: hash, mode: 'live' })
  })
  return { accountId, id: id ?? '', systemId }
}

/** A bound client; answers with ESME_ROK by default. */
export interface TestClient {
  session: Session<number>
  delivered: MessageRequest[]
  answer: (pdu: MessageRequest, respond: Respond) => void
  submit(fields: Parameters<Session<number>['submit']>[0]): Promise<{ status: number; messageId: string }>
  request: (
    command: 'query_sm' | 'cancel_sm' | 'replace_sm' | 'data_sm',
    fields: Record<string, string>,
  ) => Promise<Outcome>
}

/** Connects and binds. @throws SessionError if refused. */
export async function bindTestClient(
  port: number,
  { systemId }: { systemId: string },
  changes: Partial<BindFields> = {},
): Promise<TestClient> {
  const outcomes = new Map<number, (outcome: Outcome) => void>()
  let last = 0
  const client: TestClient = {
    session: connectSession<number>({
      host: '127.0.0.1',
      port,
      windowMax: 10_000,
      bind: { mode: 'transceiver', system_id: systemId, password, ...changes },
      onOutcome: (_session, context, outcome) => outcomes.get(context)?.(outcome),
      onRequest: (_session, pdu, respond) => {
        client.delivered.push(pdu)
        client.answer(pdu, respond)
      },
    }),
    delivered: [],
    answer: (_pdu, respond) => respond(ESME.ROK),
    submit: (fields) =>
      new Promise((resolve, reject) => {
        outcomes.set(++last, (outcome) => {
          if (outcome.kind === 'response') resolve({ status: outcome.status, messageId: outcome.messageId })
          else reject(new Error(`no answer: ${outcome.kind}`))
        })
        if (!client.session.submit({ ...addresses, ...fields }, last)) reject(new Error('not submitted'))
      }),
    request: (command, fields) =>
      new Promise((resolve) => {
        outcomes.set(++last, resolve)
        client.session.request(command, fields, last)
      }),
  }
  atEnd(() => client.session.destroy())
  await client.session.whenBound()
  return client
}

/** From the account's number to a person. */
const addresses = {
  source_addr_ton: 1,
  source_addr_npi: 1,
  source_addr: '15557654321',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '15551230001',
} as const

export function untilDelivered(client: TestClient, count: number): Promise<void> {
  return until(`${count} deliveries`, () => client.delivered.length >= count)
}
