import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { misused } from '../exit.ts'

/** A text argument; `-` reads standard input without its last line feed. */
export async function readText(word: string): Promise<string> {
  if (word !== '-') return word
  return (await readInput()).replace(/\r?\n$/, '')
}

export async function readInput(): Promise<string> {
  return text(process.stdin)
}

/** `-` is standard input. @throws Failure */
export async function readTextFile(file: string): Promise<string> {
  if (file === '-') return readInput()
  return readFile(file, 'utf8').catch((error: unknown) => unreadable(error))
}

/** `-` is standard input. @throws Failure */
export async function openFile(file: string): Promise<NodeJS.ReadableStream> {
  if (file === '-') return process.stdin
  const stream = createReadStream(file)
  await new Promise((resolve, reject) => stream.once('open', resolve).once('error', reject)).catch(unreadable)
  return stream
}

function unreadable(error: unknown): never {
  throw misused(error instanceof Error ? `The file cannot be read: ${error.message}` : String(error))
}
