/** Results go to standard output, all else to standard error. */
import { once } from 'node:events'
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

export const isWatched = (): boolean => process.stdout.isTTY

/** Without a terminal nothing is cut. */
export const columnsOf = (): number => (process.stdout.isTTY ? process.stdout.columns || 80 : Infinity)

/** A line of the result. Waits for a slow reader. */
export async function say(line = ''): Promise<void> {
  await write(`${line}\n`)
}

export async function write(chunk: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
}

/** A line on standard error. */
export function note(line = ''): void {
  process.stderr.write(`${line}\n`)
}

/** Styles results on a terminal, unless NO_COLOR is set. */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })

/** The same for notes. */
export const paintNote = (style: Style, text: string): string => styleText(style, text, { stream: process.stderr })
