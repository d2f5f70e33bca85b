import type { Socket } from 'node:net'

/** Connections that have not bound yet, by network, so that one network cannot use them all up. */
export class Newcomers {
  readonly #max: number
  readonly #networkOf: (address: string) => string
  readonly #peers = new Map<string, Set<string>>()

  /** `max` per network. */
  constructor(max: number, networkOf: (address: string) => string) {
    this.#max = max
    this.#networkOf = networkOf
  }

  /** Counts a connection until it leaves or closes; false if its network has too many. */
  enter(socket: Socket): boolean {
    const network = this.#networkOf(socket.remoteAddress ?? '')
    const peers = this.#peers.get(network) ?? new Set()
    if (peers.size >= this.#max) return false
    const peer = peerOf(socket)
    this.#peers.set(network, peers.add(peer))
    socket.once('close', () => this.#remove(network, peer))
    return true
  }

  leave(socket: Socket): void {
    this.#remove(this.#networkOf(socket.remoteAddress ?? ''), peerOf(socket))
  }

  #remove(network: string, peer: string): void {
    const peers = this.#peers.get(network)
    peers?.delete(peer)
    if (peers?.size === 0) this.#peers.delete(network)
  }
}

/** A socket and the TLS over it share this address. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
