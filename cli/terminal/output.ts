/** What is said, and where: results to standard output, everything else to standard error. */
import { once } from 'node:events'
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Whether somebody looks at the results. */
export const isWatched = (): boolean => process.stdout.isTTY

/** Columns of the terminal; without one nothing is cut. */
export const columnsOf = (): number => (process.stdout.isTTY ? process.stdout.columns || 80 : Infinity)

/** A line of the result. Waits while whoever reads it is behind. */
export async function say(line = ''): Promise<void> {
  await write(`${line}\n`)
}

/** Bytes of the result. */
export async function write(chunk: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
}

/** A line for people beside the result. */
export function note(line = ''): void {
  process.stderr.write(`${line}\n`)
}

/** Styled for the results, where somebody looks at them and has not refused colours (NO_COLOR). */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })

/** The same for notes. */
export const paintNote = (style: Style, text: string): string => styleText(style, text, { stream: process.stderr })
