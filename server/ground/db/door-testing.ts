/** Values that the process that runs all tests creates for them, each at its own Unix socket. */
import { createConnection, createServer } from 'node:net'
import { text } from 'node:stream/consumers'

/** Answers at a Unix socket with a value that is created at the first request. */
export async function openDoor(
  path: string,
  make: () => Promise<{ value: unknown; close: () => Promise<void> }>,
): Promise<{ path: string; close: () => Promise<void> }> {
  let made: ReturnType<typeof make> | undefined
  const door = createServer((socket) => {
    socket.on('error', () => {})
    made ??= make()
    made.then(
      ({ value }) => socket.end(JSON.stringify({ value })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((resolve) => door.listen(path, resolve))
  const close = async (): Promise<void> => {
    door.close()
    await (await made?.catch(() => undefined))?.close()
  }
  return { path, close }
}

/** Requests the value of such a socket. */
export async function askMain<T>(path: string): Promise<T> {
  const answer = JSON.parse(await text(createConnection(path))) as { value: T } | { error: string }
  if ('error' in answer) throw new Error(answer.error)
  return answer.value
}
