/**
 * Ends requests whose body trickles in, and answers that nobody takes. Node's requestTimeout covers a whole body whatever its size, so it
 * would cut an import of 256 MiB on a fair line; here a body only has to keep a least rate.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Limits {
  /** Time in which nothing is expected of a body. Default 10 s, as for headers. */
  graceMs?: number
  /** Default 1 KiB/s: less than the slowest mobile network gives. */
  leastBytesPerSecond?: number
  sweepMs?: number
}

/** Watches every connection of a server; one sweep a second instead of a timer a request. The server's close ends it. */
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
      // While our buffer is full it is us who are slow.
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

/** The answer to what was asked last on a connection, of the servers that `closeUnread` watches. */
export const lastAnswers = new WeakMap<Socket, ServerResponse>()

// Links and posts drain behind it, and the whole is not to take a minute.
const closedWithinMs = 10_000

/**
 * Returns what is to be called when the server begins to close. Node would wait for ever for connections that say nothing, as browsers open
 * them to spare, and for whoever takes his time: those that have said nothing end at once, all others in a while.
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

/** Twice what common proxies give: a slow reader's buffers let us see its progress in lumps of a megabyte. */
const takenWithinMs = 120_000

/**
 * Closes connections whose peer takes nothing of an answer for so long (at most twice so long, as Node counts). Progress counts, not the
 * size: an export may take hours. Who waits for us, as for events, has nothing to take.
 */
export function closeUnread(server: Server, withinMs: number = takenWithinMs): void {
  server.prependListener('request', (request, response) => lastAnswers.set(request.socket, response))
  // With a listener, the times of idle connections end here, too.
  server.setTimeout(withinMs, (socket) => {
    const response = lastAnswers.get(socket)
    const isOurTurn = response !== undefined && !response.writableFinished && socket.writableLength === 0
    if (!isOurTurn) socket.destroy()
  })
}
