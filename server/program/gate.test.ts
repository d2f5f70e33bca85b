/** A port that listens from the first moment; the application takes it over without refusing a connection. */
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { once } from 'node:events'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { Gate } from './gate.ts'

it('tells programs and people that the service is starting, until the application takes over', async () => {
  const app = Fastify()
  app.get('/healthz', () => ({ status: 'ok' }))
  const gate = await Gate.open('127.0.0.1', 0, '1.2.3')
  if (!gate) throw new Error('any port is free')
  const address = `http://127.0.0.1:${gate.port}`
  try {
    const health = await fetch(`${address}/healthz?x`)
    expect([health.status, health.headers.get('retry-after'), await health.json()]).toEqual([
      503,
      '2',
      { status: 'starting', version: '1.2.3', checks: {} },
    ])
    const send = await fetch(`${address}/v1/messages/send`, { method: 'POST', body: 'x'.repeat(100_000) })
    expect(send.headers.get('content-type')).toBe('application/problem+json')
    expect(await send.json()).toMatchObject({
      status: 503,
      code: 'unavailable',
      detail: 'The service is starting; nothing was done.',
      instance: '/v1/messages/send',
      retryable: true,
    })
    const page = await fetch(`${address}/console/`, { headers: { accept: 'text/html,*/*' } })
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('Heliogram is starting.')])
    // Polled while the application takes over.
    const seen: number[] = []
    const over = new AbortController()
    const asking = (async () => {
      while (!over.signal.aborted) seen.push((await fetch(`${address}/healthz`)).status)
    })()
    await app.listen({ host: '127.0.0.1', port: 0, ...gate.handOver() })
    expect((app.server.address() as AddressInfo).port).toBe(gate.port)
    const ready = await fetch(`${address}/healthz`)
    expect(await ready.json()).toEqual({ status: 'ok' })
    over.abort()
    await asking
    expect(new Set(seen)).toEqual(new Set([503, 200].filter((status) => seen.includes(status))))
  } finally {
    await app.close()
  }
  // The port is free again.
  await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed')
})

it('is absent if the port is taken', async () => {
  const other = createServer()
  await once(other.listen(0, '127.0.0.1'), 'listening')
  expect(await Gate.open('127.0.0.1', (other.address() as AddressInfo).port, '1.2.3')).toBeNull()
  other.close()
})
