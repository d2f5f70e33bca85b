import type { Event } from '@heliogram/sdk'
import { tellNumber } from '../../../kit/number.ts'

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const textIn = (value: unknown, names: readonly string[]): string | undefined => {
  if (!isRecord(value)) return undefined
  const found = names.map((name) => value[name]).find((one) => typeof one === 'string' && one !== '')
  return typeof found === 'string' ? found : undefined
}

/** A number, name or id that people know. For messages the person's number. */
export function subjectOf({ data }: Event): string {
  const { message } = data
  const person = isRecord(message) ? textIn(message, [message['direction'] === 'inbound' ? 'from' : 'to']) : undefined
  const found =
    person ??
    textIn(data, ['phone_number']) ??
    Object.values(data)
      .map((one) => textIn(one, ['url', 'name', 'kind', 'sender', 'campaign', 'id']))
      .find((one) => one !== undefined)
  return found === undefined ? '–' : tellNumber(found)
}

export const messageOf = ({ data }: Event): string | undefined => textIn(data['message'], ['id'])
