/** How a command ends. */

/** What the exit code says, also to scripts; docs/cli.md has the same table. */
export const exits = {
  ok: 0,
  /** The API refused it, or what was waited for failed. */
  refused: 1,
  usage: 2,
  loggedOut: 3,
  /** No answer, or none of the API, or one of a service that cannot answer just now. */
  unreachable: 4,
  /** What was waited for is not over. */
  waiting: 5,
  interrupted: 130,
} as const

/** The end of a command that failed for a reason that people can do something about: `advice` says what. */
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

/** What is said of words that cannot be understood. */
export const misused = (message: string, advice: string | null = null): Failure =>
  new Failure(exits.usage, message, advice)
