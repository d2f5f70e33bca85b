/** Exit codes, for scripts; docs/cli.md has the same table. */
export const exits = {
  ok: 0,
  /** The API refused the request, or the awaited result is a failure. */
  refused: 1,
  usage: 2,
  loggedOut: 3,
  /** No response, no response of the API, or a temporary failure of the service. */
  unreachable: 4,
  /** The time to wait is over. */
  waiting: 5,
  interrupted: 130,
} as const

/** A failure that people can fix: `advice` says how. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exit: number
  readonly advice: string | null

  constructor(exit: number, message: string, advice: string | null = null) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}

export const misused = (message: string, advice: string | null = null): Failure =>
  new Failure(exits.usage, message, advice)
