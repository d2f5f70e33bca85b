/** What is given besides words: on standard input, or in a file. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { misused } from '../exit.ts'

/** A text that stands among the words, or for `-` on standard input, without the line feed at its end. */
export async function readText(word: string): Promise<string> {
  if (word !== '-') return word
  return (await readInput()).replace(/\r?\n$/, '')
}

/** All of standard input. */
export async function readInput(): Promise<string> {
  return text(process.stdin)
}

/** The text of a file, or for `-` of standard input. @throws Failure */
export async function readTextFile(file: string): Promise<string> {
  if (file === '-') return readInput()
  return readFile(file, 'utf8').catch((error: unknown) => unreadable(error))
}

/** A file as a stream, or for `-` standard input. @throws Failure */
export async function openFile(file: string): Promise<NodeJS.ReadableStream> {
  if (file === '-') return process.stdin
  const stream = createReadStream(file)
  await new Promise((resolve, reject) => stream.once('open', resolve).once('error', reject)).catch(unreadable)
  return stream
}

function unreadable(error: unknown): never {
  throw misused(error instanceof Error ? `The file cannot be read: ${error.message}` : String(error))
}
