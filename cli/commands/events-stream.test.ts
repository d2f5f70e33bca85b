import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readStream, type StreamMessage } from './events-stream.ts'

const stream =
  'retry: 2000\r\n\r\nid: evt_1\nevent: message.received\ndata: {"text":"Grüße 👋"}\n\n: heartbeat\nid: evt_1\n\ndata: a\ndata:b\n\nid: evt_2\ndata: cut off'

test('reads a stream the same in any pieces, and ignores its unfinished end', async () => {
  const bytes = new TextEncoder().encode(stream)
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 })), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const chunks = at.slice(1).map((end, i) => bytes.slice(at[i], end))
      const told: StreamMessage[] = []
      for await (const message of readStream(new Response(ReadableStream.from(chunks)))) told.push(message)
      expect(told).toEqual([
        { id: 'evt_1', data: '{"text":"Grüße 👋"}' },
        { id: 'evt_1', data: null },
        { id: null, data: 'a\nb' },
      ])
    }),
  )
})
