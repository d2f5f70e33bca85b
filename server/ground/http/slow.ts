/**
 * Ends requests with very slow bodies, and responses that are not read. Node's requestTimeout covers a whole body of any size, so it would
 * cut an import of 256 MiB on a normal line; here a body only has to keep a minimum rate.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Limits {
  /** Initial time without a minimum. Default 10 s, as for headers. */
  graceMs?: number
  /** Default 1 KiB/s: below the slowest mobile network. */
  leastBytesPerSecond?: number
  sweepMs?: number
}

/** Watches every connection of a server, with one sweep a second instead of a timer per request. Ends with the server. */
export function watchBodies(server: Server, refuse: (request: IncomingMessage) => void, limits: Limits = {}): void {
  const { graceMs = 10_000, leastBytesPerSecond = 1024, sweepMs = 1000 } = limits
  const latest = new Map<Socket, IncomingMessage>()
  const starts = new WeakMap<IncomingMessage, { at: number; bytes: number }>()
  server.on('connection', (socket) => socket.once('close', () => latest.delete(socket)))
  server.prependListener('request', (request) => latest.set(request.socket, request))
  const sweep = (): void => {
    const now = performance.now()
    for (const [socket, request] of latest) {
      if (request.complete || request.destroyed) continue
      const start = starts.get(request)
      // While our buffer is full the delay is ours.
      const isOurTurn = request.readableLength >= request.readableHighWaterMark
      if (start === undefined || isOurTurn) {
        starts.set(request, { at: now, bytes: socket.bytesRead })
        continue
      }
      const elapsedMs = now - start.at
      if (elapsedMs > graceMs && socket.bytesRead - start.bytes < (leastBytesPerSecond * elapsedMs) / 1000)
        refuse(request)
    }
  }
  const timer = setInterval(sweep, sweepMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

/** The last response of a connection, for servers that `closeUnread` watches. */
export const lastAnswers = new WeakMap<Socket, ServerResponse>()

// Links and posts drain after it, and the stop should take less than a minute.
const closedWithinMs = 10_000

/**
 * Returns a function to call when the server begins to close. Node would wait forever for silent connections, such as browsers' spare ones,
 * and for slow clients: connections without a request end at once, all others after a while.
 */
export function closeInTime(server: Server, withinMs: number = closedWithinMs): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    const timer = setTimeout(() => open.forEach((socket) => socket.destroy()), withinMs)
    timer.unref()
    server.once('close', () => clearTimeout(timer))
  }
}

/** Twice the timeout of common proxies: a slow reader's progress shows only in buffers of a megabyte. */
const takenWithinMs = 120_000

/**
 * Closes connections whose peer reads nothing of a response for so long (at most twice so long, as Node counts). Progress counts, not size:
 * an export may take hours. Does not apply while the client waits for us, as for events.
 */
export function closeUnread(server: Server, withinMs: number = takenWithinMs): void {
  server.prependListener('request', (request, response) => lastAnswers.set(request.socket, response))
  // With a listener, idle timeouts end here too.
  server.setTimeout(withinMs, (socket) => {
    const response = lastAnswers.get(socket)
    const isOurTurn = response !== undefined && !response.writableFinished && socket.writableLength === 0
    if (!isOurTurn) socket.destroy()
  })
}
