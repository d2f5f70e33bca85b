/** Tools and how they are offered: schemas, limits, failures. */
import {
  isInputRequiredResult,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  type RegisteredTool,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Client } from '@heliogram/sdk'
import { z } from 'zod'
import type { Access } from './access.ts'
import type { Confirmations } from './confirmations.ts'
import type { Options } from './options.ts'
import { Refusal, showFailure } from './refusal.ts'
import type { Numbers } from './untrusted.ts'

export interface Surroundings {
  access: Access
  options: Options
  confirmations: Confirmations
}

export interface Call {
  client: Client
  /** Aborted by the assistant, or at the time limit. */
  signal: AbortSignal
  numbers: Numbers
}

export interface Tool {
  name: string
  /** All are required. */
  scopes: readonly string[]
  isActing: boolean
  register(server: McpServer, surroundings: Surroundings): RegisteredTool
}

export interface Description<In extends z.ZodObject> {
  /** Verb and noun. */
  name: string
  title: string
  /** For the model: what it returns, and when to use it. */
  description: string
  scopes: readonly string[]
  input: In
}

interface ReadingTool<In extends z.ZodObject, Out extends z.ZodObject> extends Description<In> {
  output: Out
  /** Members outside the output schema are dropped. */
  read(call: Call, args: z.output<In>): Promise<z.input<Out>>
}

// Most clients wait a minute: our response must come before.
const limitMs = 45_000
/** Characters of a response: some 20,000 tokens, the limit of clients. The largest page is half of it. */
const answerMax = 80_000

export function defineReading<In extends z.ZodObject, Out extends z.ZodObject>(tool: ReadingTool<In, Out>): Tool {
  const { name, title, description, scopes } = tool
  const inputSchema: z.ZodObject = tool.input
  const outputSchema: z.ZodObject = tool.output
  return {
    name,
    scopes,
    isActing: false,
    register: (server, surroundings) => {
      const handle = (args: unknown, { mcpReq }: ServerContext): Promise<CallToolResult | InputRequiredResult> =>
        answer(surroundings, mcpReq.signal, async (call) =>
          outputSchema.parse(await tool.read(call, args as z.output<In>)),
        )
      const annotations = {
        title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      }
      const config = { title, description, inputSchema, outputSchema, annotations }
      return server.registerTool(name, config, handle)
    },
  }
}

/** Runs a tool; returns the result as structure and as the same JSON. */
export async function answer(
  { access, options }: Surroundings,
  canceled: AbortSignal,
  run: (call: Call) => Promise<Record<string, unknown> | InputRequiredResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const { client } = access
  try {
    await access.check()
    const signal = AbortSignal.any([canceled, AbortSignal.timeout(limitMs)])
    const result = await run({ client, signal, numbers: { isShown: options.showsNumbers } })
    if (isInputRequiredResult(result)) return result
    const text = JSON.stringify(result)
    if (text.length > answerMax)
      throw new Refusal(
        'answer_too_large',
        `The response has ${text.length} characters, and at most ${answerMax} are shown.`,
        'Ask for fewer items (limit), or for a shorter period.',
      )
    return { structuredContent: result, content: [{ type: 'text', text }] }
  } catch (error) {
    return showFailure(error, client, limitMs)
  }
}

export const paging = {
  limit: z.int().min(1).max(50).default(20).describe('Items in a page, 1 to 50.'),
  cursor: z.string().max(2000).optional().describe('`next_cursor` of the previous page, with the same filters.'),
}

export const nextCursor = z.string().nullable().describe('Pass it as `cursor` for the next page; null on the last.')

export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/, 'must be a time with its zone')
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be an existing time')
  .describe('A time with its zone (RFC 3339), such as 2026-11-23T08:00:00Z.')

/** An id of the API, or a caller's own key. */
export const id = (of: string, example: string) => z.string().min(1).max(255).describe(`${of}, such as ${example}.`)

export const campaign = id('Id or key of a campaign', 'cmp_… or spring-sale')

export const messageType = z.enum(['transactional', 'marketing', 'otp'])

export const phoneNumber = z
  .string()
  .regex(/^\+?[1-9]\d{6,14}$/, 'must be a number with its country code, digits only, such as 15551234567')
  .describe('A number with its country code, digits only; a plus sign in front is allowed. Such as 15551234567.')
