/** `name=value`, repeatable. */
import { InvalidArgumentError } from 'commander'

/** @throws InvalidArgumentError */
export function readPair(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be name=value.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Repeatable, and split at commas. */
export const readWords = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
]
