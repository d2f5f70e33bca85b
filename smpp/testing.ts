import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { decodePdu } from './decode.ts'
import { type ConnectOptions, connectSession } from './dial.ts'
import { encodePdu } from './encode.ts'
import type { CloseReason, LinkFault, MessageRequest, Notice, Outcome, Respond } from './options.ts'
import type { Pdu, PduInput, ResponsePdu } from './pdu.ts'
import type { Session } from './session.ts'
import { PduStream } from './stream.ts'

/** Rejects after 90 seconds, naming `what`. */
export async function until(claim: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 90_000
  while (!claim()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** A peer controlled by the test: a socket, and every PDU received on it. */
export class Peer {
  readonly socket: Socket
  readonly received: Pdu[] = []
  isEnded = false
  onPdu: (pdu: Pdu) => void = () => {}

  constructor(socket: Socket) {
    this.socket = socket
    const stream = new PduStream((bytes, start, end) => {
      const pdu = decodePdu(bytes, start, end)
      this.received.push(pdu)
      this.onPdu(pdu)
      return true
    })
    socket.on('data', (chunk: Buffer) => stream.push(chunk))
    socket.on('end', () => (this.isEnded = true))
    socket.on('close', () => (this.isEnded = true))
    socket.on('error', () => {})
  }

  send(...pdus: PduInput[]): void {
    this.socket.write(Buffer.concat(pdus.map((pdu) => encodePdu(pdu))))
  }

  sendHex(hex: string): void {
    this.socket.write(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
  }

  async take<C extends Pdu['command']>(command: C, nth: number = 0): Promise<Extract<Pdu, { command: C }>> {
    const find = (): Pdu | undefined => this.received.filter((pdu) => pdu.command === command)[nth]
    await until(() => find() !== undefined, `the peer has received ${command} ${nth}`)
    return find() as Extract<Pdu, { command: C }>
  }
}

export class PeerServer {
  readonly peers: Peer[] = []
  port = 0
  readonly #server: Server = createServer((socket) => {
    const peer = new Peer(socket)
    this.peers.push(peer)
    this.onPeer(peer)
  })
  onPeer: (peer: Peer) => void = (peer) => {
    peer.onPdu = acceptBinds(peer)
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.port = (this.#server.address() as AddressInfo).port
    return this.port
  }

  async peer(nth: number = 0): Promise<Peer> {
    await until(() => this.peers.length > nth, `peer ${nth} has come`)
    return this.peers[nth] as Peer
  }

  async close(): Promise<void> {
    for (const { socket } of this.peers) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export async function dialPeer(port: number): Promise<Peer> {
  const socket = connect(port, '127.0.0.1')
  const peer = new Peer(socket)
  await until(() => !socket.connecting, 'the peer is connected')
  return peer
}

export function acceptBinds(peer: Peer): (pdu: Pdu) => void {
  return ({ command, sequence_number }) => {
    if (command !== 'bind_transceiver' && command !== 'bind_transmitter' && command !== 'bind_receiver') return
    peer.send({ command: `${command}_resp`, sequence_number, system_id: 'smsc' })
  }
}

/** A client's session with a peer that only accepts the bind, and all that the session reported. */
export interface Link {
  session: Session<string>
  peer: Peer
  server: PeerServer
  outcomes: [string, Outcome][]
  late: [string, ResponsePdu][]
  requests: { pdu: MessageRequest; respond: Respond }[]
  notices: Notice[]
  faults: LinkFault[]
  states: string[]
  rooms: number[]
}

const closers: (() => Promise<unknown>)[] = []

export async function closeLinks(): Promise<void> {
  for (const close of closers.splice(0)) await close()
}

export const BIND = { mode: 'transceiver', system_id: 'heliogram', password: 'secret' } as const

export async function dialOnly(
  options: Partial<ConnectOptions<string>> = {},
  onPeer: (peer: Peer) => void = () => {},
): Promise<Omit<Link, 'peer'>> {
  const server = new PeerServer()
  server.onPeer = onPeer
  const port = await server.listen()
  const link = { server, outcomes: [], late: [], requests: [], notices: [], faults: [], states: [], rooms: [] }
  const reports: Omit<Link, 'peer' | 'session'> = link
  const session = connectSession<string>({
    host: '127.0.0.1',
    port,
    windowMax: 4,
    bind: BIND,
    onOutcome: (_session, context, outcome) => reports.outcomes.push([context, outcome]),
    onLateResponse: (_session, context, response) => reports.late.push([context, response]),
    onRequest: (_session, pdu, respond) => reports.requests.push({ pdu, respond }),
    onNotice: (_session, pdu) => reports.notices.push(pdu),
    onFault: (_session, fault) => reports.faults.push(fault),
    onState: (_session, state, reason) => reports.states.push(reason === undefined ? state : `${state}: ${reason}`),
    onRoom: ({ room }) => reports.rooms.push(room),
    ...options,
  })
  closers.push(async () => {
    session.destroy()
    await server.close()
  })
  return { ...reports, session }
}

export async function aLink(options: Partial<ConnectOptions<string>> = {}): Promise<Link> {
  const link = await dialOnly(options, (peer) => {
    peer.onPdu = acceptBinds(peer)
  })
  await link.session.whenBound()
  return { ...link, peer: await link.server.peer() }
}

export const closed = (session: Session<string>, reason: CloseReason): Promise<void> =>
  until(() => session.closeReason === reason, `the session is closed: ${reason}`)
