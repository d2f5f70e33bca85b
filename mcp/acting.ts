/** Tools that send or change: the first call previews the effect and returns a word, the second executes it with that word. */
import { HeliogramError } from '@heliogram/sdk'
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { askPerson, questionOf } from './asking.ts'
import type { Subject } from './confirmations.ts'
import { Refusal } from './refusal.ts'
import { answer, type Call, type Description, type Surroundings, type Tool } from './tool.ts'

interface Plan<Effect> {
  effect: Effect
  /** Most messages that it leads to. */
  recipients: number
  /** Its subject beyond the arguments, such as the current broadcast of a campaign. */
  about?: string
  /** Why it would be refused or do nothing; then there is no word. */
  blocked?: string | null
}

interface ActingTool<
  In extends z.ZodObject,
  Effect extends z.ZodType,
  Result extends z.ZodObject,
> extends Description<In> {
  /** Whether it sends, removes, or stops something for good. */
  isDestructive: boolean
  /** Whether to plan again when the word comes, because the subject may have grown or changed. */
  isPlannedAgain?: boolean
  /** Whether it reaches people or servers outside. */
  reachesOut: boolean
  effect: Effect
  result: Result
  /** Previews the effect without changes. */
  plan(call: Call, args: z.output<In>): Promise<Plan<z.input<Effect>>>
  perform(
    call: Call,
    args: z.output<In>,
    options: { idempotencyKey: string; signal: AbortSignal; retries: number },
  ): Promise<z.input<Result>>
}

const confirmation = z
  .string()
  .min(1)
  .max(40)
  .optional()
  .describe('Leave it out first. The word from the preview, with exactly the same other arguments, performs the act.')

const twoSteps =
  ' Two steps: without `confirmation` nothing is done, and you get a preview with a word. Show the preview to the person you work for. If they agree, call again with exactly the same arguments and that word.'

export function defineActing<In extends z.ZodObject, Effect extends z.ZodType, Result extends z.ZodObject>(
  tool: ActingTool<In, Effect, Result>,
): Tool {
  const { name, title, scopes, isDestructive, reachesOut } = tool
  const inputSchema = tool.input.extend({ confirmation })
  const outputSchema = z.object({
    step: z.enum(['preview', 'done']).describe('`preview`: nothing was done yet.'),
    effect: tool.effect.nullable().describe('In a preview: what would happen.'),
    blocked: z.string().nullable().describe('In a preview: why it cannot be done; then there is no word.'),
    confirmation: z
      .object({ word: z.string(), expires_in_seconds: z.number() })
      .nullable()
      .describe('In a preview: the word that performs it. It is valid for these arguments, once.'),
    result: tool.result.nullable().describe('What was done.'),
    repeated: z
      .boolean()
      .describe('The word was already used: this is its result from then, and nothing was done again.'),
  })

  const preview = async (
    surroundings: Surroundings,
    call: Call,
    args: z.output<In>,
  ): Promise<Record<string, unknown>> => {
    const { recipients, about = '', ...plan } = await tool.plan(call, args)
    const effect = tool.effect.parse(plan.effect)
    const blocked = plan.blocked ?? tooMany(surroundings, recipients)
    const subject = { recipients, about, question: questionOf(title, args, effect) }
    const word = blocked === null ? surroundings.confirmations.offer(name, args, subject) : null
    return { step: 'preview', effect, blocked, confirmation: word, result: null, repeated: false }
  }

  const perform = async (
    { confirmations, options }: Surroundings,
    call: Call,
    args: z.output<In>,
    word: string,
    responses: Record<string, unknown> | undefined,
  ): Promise<Record<string, unknown> | InputRequiredResult> => {
    const shown = confirmations.take(word, name, args)
    if (options.asksPerson && shown.result === null && !shown.isUnsettled) {
      const said = askPerson(responses, word, shown.question)
      if (said === 'declined') throw confirmations.decline(word)
      confirmations.prolong(shown)
      if (said !== 'agreed') return said
    }
    const repeated = shown.result !== null
    const act = async (): Promise<object> => {
      // An unsettled act may be done already; its key decides, not a new plan.
      if (tool.isPlannedAgain === true && !shown.isUnsettled) refuseOutdated(await tool.plan(call, args), shown)
      // One try, so that a refusal is definite. A repeated call uses the same key.
      const { idempotencyKey } = shown
      const options = { idempotencyKey, signal: call.signal, retries: 0 }
      return tool.result.parse(await tool.perform(call, args, options))
    }
    // Concurrent calls with one word share one act. A failed act may be retried: its key makes it happen once. After an unsettled try, a later
    // refusal does not settle it.
    shown.result ??= act()
    const result = await shown.result.catch((error: unknown) => {
      shown.result = null
      shown.isUnsettled ||= !isSettled(error)
      throw error
    })
    return { step: 'done', effect: null, blocked: null, confirmation: null, result, repeated }
  }

  return {
    name,
    scopes,
    isActing: true,
    register: (server, surroundings) => {
      const handle = (given: unknown, { mcpReq }: ServerContext): Promise<CallToolResult | InputRequiredResult> => {
        const { confirmation: word, ...args } = given as z.output<In> & { confirmation?: string }
        return answer(surroundings, mcpReq.signal, (call) =>
          word === undefined
            ? preview(surroundings, call, args as z.output<In>)
            : perform(surroundings, call, args as z.output<In>, word, mcpReq.inputResponses),
        )
      }
      const annotations = {
        title,
        readOnlyHint: false,
        destructiveHint: isDestructive,
        idempotentHint: false,
        openWorldHint: reachesOut,
      }
      const description = tool.description + twoSteps
      return server.registerTool(name, { title, description, inputSchema, outputSchema, annotations }, handle)
    },
  }
}

function tooMany({ options: { recipientsMax } }: Surroundings, recipients: number): string | null {
  return recipients <= recipientsMax
    ? null
    : `It would lead to ${recipients} messages, and one confirmed call can lead to ${recipientsMax} (--max-recipients). Use the console, or start the server with a higher limit.`
}

/** Whether a failure proves that nothing was done. After other failures only the same key may repeat the act. */
function isSettled(error: unknown): boolean {
  if (!(error instanceof HeliogramError)) return error instanceof Refusal
  const { status, code } = error
  return status >= 400 && status < 500 && status !== 408 && code !== 'idempotency_in_progress'
}

/** The audience may have grown since the preview. */
function refuseOutdated({ recipients, about = '', blocked = null }: Plan<unknown>, shown: Subject): void {
  const grown = recipients > shown.recipients
  if (!grown && about === shown.about && blocked === null) return
  const detail = grown
    ? `It would lead to ${recipients} messages now, and the preview showed ${shown.recipients}; nothing was done.`
    : `The preview is out of date${blocked === null ? '' : `: ${blocked}`}; nothing was done.`
  throw new Refusal('preview_outdated', detail, 'Call the tool without `confirmation` for a new preview.')
}
