import type { Socket } from 'node:net'

/** Connections that have not bound yet, by the network that they come from: one that opens many keeps no others out. */
export class Newcomers {
  readonly #max: number
  readonly #networkOf: (address: string) => string
  /** The other ends of each network's. */
  readonly #peers = new Map<string, Set<string>>()

  /** `max` of one network at a time. */
  constructor(max: number, networkOf: (address: string) => string) {
    this.#max = max
    this.#networkOf = networkOf
  }

  /** Counts a connection until it leaves or closes; false where its network has too many. */
  enter(socket: Socket): boolean {
    const network = this.#networkOf(socket.remoteAddress ?? '')
    const peers = this.#peers.get(network) ?? new Set()
    if (peers.size >= this.#max) return false
    const peer = peerOf(socket)
    this.#peers.set(network, peers.add(peer))
    socket.once('close', () => this.#remove(network, peer))
    return true
  }

  /** It has bound. Of a socket over TLS or of the one below it. */
  leave(socket: Socket): void {
    this.#remove(this.#networkOf(socket.remoteAddress ?? ''), peerOf(socket))
  }

  #remove(network: string, peer: string): void {
    const peers = this.#peers.get(network)
    peers?.delete(peer)
    if (peers?.size === 0) this.#peers.delete(network)
  }
}

/** A connection's other end, which its socket and the TLS over it both know. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
