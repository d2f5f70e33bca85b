import type { App } from '../ground/http/http.ts'
import type { Exposition } from '../ground/metrics/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    requestCounts?: RequestCounts
  }
}

/** Counts the answers of an application, but those of the fast path, which counts its own. */
export function countRequests(app: App): void {
  const counts = new RequestCounts()
  app.decorate('requestCounts', counts)
  app.addHook('onResponse', ({ method, routeOptions: { url = '*' } }, { statusCode }, done) => {
    counts.note(`${method} ${url}`, statusCode)
    done()
  })
}

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Answers of this process by route, as in the code, and class of status. */
export class RequestCounts {
  readonly #counts = new Map<string, number[]>()

  /** `target`: method and route; `*` is any unknown path. */
  note(target: string, status: number): void {
    let counts = this.#counts.get(target)
    if (!counts) this.#counts.set(target, (counts = classes.map(() => 0)))
    const at = Math.floor(status / 100) - 1
    counts[at] = (counts[at] ?? 0) + 1
  }

  write(out: Exposition): void {
    out.counter(
      'heliogram_http_requests_total',
      'HTTP requests answered, by route and class of status.',
      [...this.#counts].flatMap(([target, counts]) => {
        const [method = '', route = ''] = target.split(' ')
        return classes.flatMap((status, i) =>
          counts[i] === 0 ? [] : [[{ method, route, status }, counts[i] ?? 0] as const],
        )
      }),
    )
  }
}
