import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Got {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

export type Answerer = (response: ServerResponse, got: Got) => void

export interface TestServer {
  baseUrl: string
  got: Got[]
  /** Responses to the next requests, one each; the last repeats. */
  answer(...answers: Answerer[]): void
  close(): Promise<void>
}

export async function startServer(): Promise<TestServer> {
  const got: Got[] = []
  let answers: Answerer[] = [json(200, {})]
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      got.push(one)
      const [answer] = answers.length > 1 ? answers.splice(0, 1) : answers
      answer?.(response, one)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    answer(...next) {
      got.length = 0
      answers = next
    },
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answerer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function problem(
  status: number,
  code: string,
  retryable: boolean,
  headers: Record<string, string> = {},
): Answerer {
  const body = { type: `/docs/errors/${code}`, title: 'A title', status, detail: 'A detail.', instance: '/', code }
  return json(status, { ...body, request_id: 'req_1', retryable }, { 'x-request-id': 'req_1', ...headers })
}

export const hangUp: Answerer = (response) => response.destroy()

export const silence: Answerer = () => {}
