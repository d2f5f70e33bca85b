/** A TCP proxy in front of a database that can lose the responses of executed statements. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class DatabaseProxy {
  url = ''
  readonly #server: Server
  readonly #pairs = new Set<{ near: Socket; far: Socket }>()
  #isMute = false

  private constructor(server: Server) {
    this.#server = server
  }

  /** Listens on a free port. The URL may name a unix socket (`?host=` and `?port=`). */
  static async start(url: string): Promise<DatabaseProxy> {
    const behind = new URL(url)
    const folder = behind.searchParams.get('host')
    const port = Number(behind.searchParams.get('port') ?? (behind.port || 5432))
    const server = createServer()
    const proxy = new DatabaseProxy(server)
    server.on('connection', (near) => {
      const far = folder?.startsWith('/')
        ? connect(`${folder}/.s.PGSQL.${port}`)
        : connect(port, folder ?? behind.hostname)
      proxy.#join(near, far)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    behind.search = ''
    behind.hostname = '127.0.0.1'
    behind.port = String((server.address() as AddressInfo).port)
    proxy.url = behind.href
    return proxy
  }

  /** Drops the server's responses from now on, lets it finish, and cuts every connection. */
  async cut(afterMs: number): Promise<void> {
    this.#isMute = true
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    for (const { near, far } of this.#pairs) {
      near.destroy()
      far.destroy()
    }
    this.#isMute = false
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#pairs) {
      near.destroy()
      far.destroy()
    }
    await once(this.#server.close(), 'close')
  }

  #join(near: Socket, far: Socket): void {
    const pair = { near, far }
    this.#pairs.add(pair)
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => {
      if (!this.#isMute) near.write(bytes)
    })
    for (const socket of [near, far]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#pairs.delete(pair)
        near.destroy()
        far.destroy()
      })
    }
  }
}
