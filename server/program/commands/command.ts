/** What a command of the program is. */
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import type { Log } from '../../ground/db/log.ts'

/** What it is given. */
export interface CommandContext {
  config: Config
  log: Log
  /** Of the program. */
  version: string
  /** Aborted where somebody asks it to stop. */
  signal: AbortSignal
}

/** A command. */
export interface Command {
  /** Runs to its end; answers what to print then. @throws StartError, or UsageError for words that are none of its own. */
  run(context: CommandContext, words: string[]): Promise<string>
  /** What `heliogram <name> --help` prints; absent: what `heliogram --help` does. */
  help?: string
  /** It heeds the signal of its context: what asks it to stop does not end it at once. */
  heedsStop?: boolean
}

/**
 * Runs a command, which is asked to stop where the program is. Of its log only warnings are told: what it does it says itself. The second signal
 * ends it at once.
 */
export async function runCommand(
  command: Command,
  words: string[],
  { config, log, version }: Omit<CommandContext, 'signal'>,
): Promise<string> {
  const stop = new AbortController()
  if (command.heedsStop)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
  const quiet: Log = { info: () => {}, warn: (...said) => log.warn(...said), error: (...said) => log.error(...said) }
  return await command.run({ config, log: quiet, version, signal: stop.signal }, words)
}

/** Waits for work, but not for what it waits for itself where somebody asks it to stop. @throws what the work does, or the reason of the signal. */
export async function untilStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  return await Promise.race([work, stopped])
}

/** Words that a command does not know, or too few of them. */
export class UsageError extends Error {}

/** Reads the words of a command that takes a file and options without a value. @throws UsageError. */
export function readWords<Name extends string>(
  words: string[],
  flags: readonly Name[],
): { file: string; flags: Set<Name> } {
  const options = Object.fromEntries(flags.map((name) => [name, { type: 'boolean' as const }]))
  let parsed
  try {
    parsed = parseArgs({ args: words, options, allowPositionals: true })
  } catch (error) {
    // Its first sentence; the second explains how to write what is no option.
    throw new UsageError((error as Error).message.replace(/\. .*/s, '.'), { cause: error })
  }
  const [file, ...more] = parsed.positionals
  if (file === undefined || more.length > 0) throw new UsageError('Give one FILE.')
  return { file, flags: new Set(flags.filter((name) => parsed.values[name] === true)) }
}

/** For commands that take no words. @throws UsageError. */
export function requireNoWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`It takes no arguments, but got "${words.join(' ')}".`)
}
