/** Failures for the model: code, all faults, advice, and the id to quote. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { HeliogramError, type Answer, type Client } from '@heliogram/sdk'
import { bounded } from './untrusted.ts'

/** A refusal by this server itself. */
export class Refusal extends Error {
  readonly code: string
  readonly advice: string

  constructor(code: string, detail: string, advice: string) {
    super(detail)
    this.code = code
    this.advice = advice
  }
}

/** The API's error codes; fetched once, at the first error. */
export type Meanings = Answer<'listErrors'>

const meaningsOf = new WeakMap<Client, Promise<Meanings>>()

/** @throws HeliogramError */
export function readMeanings(client: Client, signal: AbortSignal): Promise<Meanings> {
  const known = meaningsOf.get(client)
  if (known) return known
  const asked = client.call('listErrors', {}, { signal })
  meaningsOf.set(client, asked)
  asked.catch(() => meaningsOf.delete(client))
  return asked
}

/** Advice on failures without a response of the API. */
const ownAdvice: Record<string, string> = {
  unreachable: 'Check that Heliogram is running and HELIOGRAM_URL is its address, then call again.',
  timeout: 'Call again. With a confirmation word you can safely repeat the call: nothing is done twice.',
  unexpected_answer: 'Check that HELIOGRAM_URL is the address of Heliogram itself.',
}

/** Fields that our tools rename, because `message` is an id elsewhere. */
const argumentOf: Record<string, string> = { message: 'text', 'audience/tags': 'tags' }

const faultsMax = 20
const detailMax = 500

export async function showFailure(error: unknown, client: Client, limitMs: number): Promise<CallToolResult> {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(await tell(error, client, limitMs)) }] }
}

async function tell(error: unknown, client: Client, limitMs: number): Promise<object> {
  if (error instanceof Refusal) return { code: error.code, detail: error.message, what_to_do: error.advice }
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return {
      code: 'timeout',
      detail: `It took longer than ${limitMs / 1000} seconds.`,
      what_to_do: ownAdvice['timeout'],
      retryable: true,
    }
  if (!(error instanceof HeliogramError)) throw error
  const { code, title, detail, status, errors, requestId, retryable, retryAfterMs } = error
  return {
    code,
    title,
    detail: bounded(detail, detailMax),
    ...(errors.length > 0 && {
      faults: errors.slice(0, faultsMax).map((one) => ({
        ...one,
        pointer: one.pointer.replace(/^#\/(message|audience\/tags)\b/, (_, name: string) => `#/${argumentOf[name]}`),
        detail: bounded(one.detail, detailMax),
      })),
    }),
    ...(errors.length > faultsMax && { more_faults: errors.length - faultsMax }),
    what_to_do: ownAdvice[code] ?? (await adviceOf(code, client)),
    retryable,
    ...(retryAfterMs !== undefined && { retry_after_seconds: Math.ceil(retryAfterMs / 1000) }),
    ...(status > 0 && { status }),
    ...(requestId !== undefined && { request_id: requestId }),
  }
}

async function adviceOf(code: string, client: Client): Promise<string> {
  const meanings = await readMeanings(client, AbortSignal.timeout(2000)).catch(() => null)
  return meanings?.data.find((one) => one.code === code)?.advice ?? 'Read the page "api/errors" of the manual.'
}
