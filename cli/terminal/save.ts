/** Downloads to standard output, or to a file that is complete or absent. */
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Cli } from '../cli.ts'
import { exits, Failure } from '../exit.ts'
import { note, write } from './output.ts'
import { startProgress } from './progress.ts'

/** Streams a response. @throws Failure if it is cut off */
export async function saveAnswer(cli: Cli, answer: Response, file: string | undefined): Promise<void> {
  const { body } = answer
  if (file === undefined || file === '-') {
    if (body) for await (const chunk of brokenOff(body)) await write(chunk)
    return
  }
  const draft = `${file}.part`
  const progress = startProgress()
  let bytes = 0
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    if (body)
      for await (const chunk of brokenOff(body)) {
        bytes += chunk.length
        progress.show(`${(bytes / 1e6).toFixed(1)} MB`)
        yield chunk
      }
  }
  cli.whenInterrupted(async () => {
    await rm(draft, { force: true })
    return `${file} was not written.`
  })
  try {
    await pipeline(counted(), createWriteStream(draft))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    if (error instanceof Failure) throw error
    throw new Failure(
      exits.usage,
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    progress.end()
    cli.whenInterrupted(null)
  }
  note(`${file}: ${bytes} bytes`)
}

async function* brokenOff(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch {
    throw new Failure(exits.unreachable, 'The connection was lost: the file is incomplete.', 'Start again.')
  }
}
