/** What the process that runs all tests makes for them, at a unix socket each. */
import { createConnection, createServer } from 'node:net'
import { text } from 'node:stream/consumers'

/** Answers at a unix socket with what is made when the first test asks. */
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

/** Asks at such a socket. */
export async function askMain<T>(path: string): Promise<T> {
  const answer = JSON.parse(await text(createConnection(path))) as { value: T } | { error: string }
  if ('error' in answer) throw new Error(answer.error)
  return answer.value
}
