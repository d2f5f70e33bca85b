/** Prompts go to standard error, so that results can be piped. */
import { confirm, isCancel, password, text } from '@clack/prompts'
import { exits, Failure } from '../exit.ts'

/** `fallback` is the result of an empty line. */
export async function askText(message: string, fallback: string | null = null): Promise<string> {
  const shown = fallback === null ? {} : { placeholder: fallback, defaultValue: fallback }
  const validate = (value: string | undefined): string | undefined =>
    value?.trim() || fallback !== null ? undefined : 'It cannot be empty.'
  return answered(await text({ message, output: process.stderr, validate, ...shown })).trim()
}

export async function askSecret(message: string): Promise<string> {
  const validate = (value: string | undefined): string | undefined => (value ? undefined : 'It cannot be empty.')
  return answered(await password({ message, output: process.stderr, validate })).trim()
}

/** The default is no. */
export async function askWhether(message: string): Promise<boolean> {
  return answered(await confirm({ message, output: process.stderr, initialValue: false }))
}

function answered<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new Failure(exits.interrupted, 'Nothing was done.')
  return answer as Exclude<T, symbol>
}
