/**
 * Preloaded by `--import`: a machine without a network that reports its memory. Names do not resolve, and only Unix sockets and the ports of
 * 127.0.0.1 in NO_NETWORK_BUT accept connections; SIGUSR2 prints the used heap after a collection.
 */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { isIP, Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const allowed = new Set((process.env['NO_NETWORK_BUT'] ?? '').split(',').map(Number))
const fail = (code: string): Error => Object.assign(new Error(`${code}: there is no network`), { code })

// Both overloads in Node.js also take their arguments as one normalized array.
const { connect } = Socket.prototype as unknown as { connect: (this: Socket, ...args: unknown[]) => Socket }
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  const first: unknown = Array.isArray(args[0]) ? (args[0] as unknown[])[0] : args[0]
  const { path, host, port } = (
    typeof first === 'object' ? first : typeof first === 'string' ? { path: first } : { port: first, host: args[1] }
  ) as { path?: string; host?: string; port?: number }
  if (path || (allowed.has(Number(port)) && ['127.0.0.1', 'localhost', undefined].includes(host)))
    return connect.apply(this, args)
  process.nextTick(() => this.destroy(fail('ECONNREFUSED')))
  return this
}

// Servers look up even their own listening address.
const isHere = (name: unknown): boolean => typeof name === 'string' && (isIP(name) > 0 || name === 'localhost')
const refuse =
  (original: (...args: never[]) => void) =>
  (...args: unknown[]): void => {
    if (isHere(args[0])) return original(...(args as never[]))
    const done = args.at(-1)
    if (typeof done === 'function') process.nextTick(done, fail('ENOTFOUND'))
  }
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6'] as const) dns[name] = refuse(dns[name]) as never
const lookup = dns.promises.lookup as (...args: unknown[]) => Promise<unknown>
dns.promises.lookup = ((...args: unknown[]) =>
  isHere(args[0]) ? lookup(...args) : Promise.reject(fail('ENOTFOUND'))) as never
syncBuiltinESMExports()

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGUSR2', () => {
  collect()
  process.stderr.write(`heap ${process.memoryUsage().heapUsed}\n`)
})
