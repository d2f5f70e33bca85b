import type { World } from './world.ts'

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export async function insist<T>(
  { client, faults }: World,
  method: string,
  path: string,
  body: unknown,
  statuses: number[],
  key?: string,
  headers: Record<string, string> = {},
): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await client
      .call<T>(method, path, body, { ...headers, ...(key !== undefined && { 'idempotency-key': key }) })
      .catch(() => null)
    if (answer && statuses.includes(answer.status)) return answer.body
    const isWorkedOn = answer?.status === 409 && (answer.body as { code?: string }).code === 'idempotency_in_progress'
    if (answer && answer.status !== 503 && !isWorkedOn) {
      faults.push(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
      return answer.body
    }
    if (tries > 300) throw new Error(`${method} ${path} had no answer`)
    await pause(100)
  }
}
