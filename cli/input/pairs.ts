/** `name=value`, given as often as needed. */
import { InvalidArgumentError } from 'commander'

/** Adds one to those before it. @throws InvalidArgumentError */
export function readPair(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be name=value.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Adds a word to those before it; several may stand between commas. */
export const readWords = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
]
