/** What a text would be sent as, without sending it. */
import { countSegments, cutSegments, joinParts, readPart } from '@heliogram/smpp'
import type { Static } from 'typebox'
import { invalid, type FieldError } from '../errors.ts'
import { problems, type App } from '../http.ts'
import type { Warning } from './message.ts'
import { readNumber } from './number.ts'
import { isOptedOut } from './opt-out.ts'
import { Preview, PreviewBody } from './schema.ts'
import type { MessagesContext } from './send.ts'
import { readShortLinks } from './short-links/shorten.ts'
import { readText, type Text } from './text.ts'

export function previewRoute(
  app: App,
  { db, vault, shortUrl = null }: Pick<MessagesContext, 'db' | 'vault' | 'shortUrl'>,
): void {
  app.post(
    '/v1/messages/preview',
    {
      schema: {
        operationId: 'previewMessage',
        summary: 'Encoding, segments and warnings of a text, without sending it',
        tags: ['Messages'],
        body: PreviewBody,
        response: { 200: Preview, ...problems(413, 415) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const { to, ...body } = request.body
      const faults: FieldError[] = []
      const number = to === undefined ? null : readNumber(to, null)
      if (number && !('number' in number)) faults.push({ pointer: '#/to', ...number })
      const { text: message } = readShortLinks(body, { shortUrl }, faults)
      const text = readText({ ...body, message }, faults)
      if (faults.length > 0 || !text || (number && !('number' in number))) throw invalid(faults)
      return {
        ...showText(text, number?.warnings ?? []),
        to: number && number.number,
        opted_out: number && (await isOptedOut(db, vault, request.caller.accountId, number.number)),
      }
    },
  )
}

/** What a preview says of a text; `more` are warnings that come before those of the text. */
export function showText(
  { body, encoding, characters, segments, warnings }: Text,
  more: readonly Warning[],
): Omit<Static<typeof Preview>, 'to' | 'opted_out'> {
  return {
    object: 'preview',
    message: body,
    encoding,
    characters,
    segments,
    parts: cutText(body, encoding),
    replaced: warnings.flatMap((warning) => warning.replaced ?? []),
    warnings: [...more, ...warnings],
  }
}

/** The text of each segment, decoded from the very octets that would be submitted. */
function cutText(text: string, encoding: 'GSM-7' | 'UCS-2'): { text: string; characters: number }[] {
  const pdus = cutSegments(text, { encoding: encoding === 'GSM-7' ? 'gsm7' : 'ucs2', mode: 'udh8', reference: 0 })
  return pdus.map((pdu) => {
    const part = joinParts([{ ...readPart(pdu), concatenation: null }]).text ?? ''
    return { text: part, characters: countSegments(part).characters }
  })
}
