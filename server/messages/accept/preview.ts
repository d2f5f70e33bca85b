/** What a text would be sent as, without sending it. */
import { countSegments, cutSegments, joinParts, readPart } from '@heliogram/smpp'
import type { Static } from 'typebox'
import { invalid, type FieldError } from '../../errors.ts'
import { problems, type App, type Caller } from '../../http.ts'
import { showId } from '../../ids.ts'
import { objectOf, schemaErrorsOf } from '../../requests/faults.ts'
import { showMoney, type Money, type MoneySchema } from '../../money.ts'
import type { Acceptor } from './accept.ts'
import type { Planned } from './accepted.ts'
import { plainDraft } from './draft.ts'
import type { MessageType, Warning } from '../message.ts'
import { readNumber } from '../numbers/number.ts'
import { isOptedOut } from '../opt-outs/opt-out.ts'
import { quietWarning } from '../quiet-hours/quiet-hours.ts'
import { Preview, PreviewBody } from '../schema.ts'
import type { MessagesContext } from './send.ts'
import { readShortLinks } from '../short-links/shorten.ts'
import { listSendFaults } from './send-faults.ts'
import { noTemplates, type SendInput } from '../templates/send.ts'
import { readText, type Text } from './text.ts'

export function previewRoute(
  app: App,
  { db, vault, acceptor, shortUrl = null }: Pick<MessagesContext, 'db' | 'vault' | 'acceptor' | 'shortUrl'>,
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
      attachValidation: true,
    },
    async (request) => {
      const wrong = schemaErrorsOf(request)
      if (wrong.length > 0) {
        const context = { accountId: '', isTest: false, defaultCountry: request.caller.defaultCountry ?? null }
        const fields = objectOf<SendInput>(request.body as SendInput)
        throw invalid(listSendFaults(fields, wrong, noTemplates, { ...context, refuseUrl: () => null, shortUrl }))
      }
      const { to, ...body } = request.body
      const faults: FieldError[] = []
      const number = to === undefined ? null : readNumber(to, request.caller.defaultCountry)
      if (number && !('number' in number)) faults.push({ pointer: '#/to', ...number })
      const { text: message } = readShortLinks(body, { shortUrl }, faults)
      const text = readText({ ...body, message }, faults)
      if (faults.length > 0 || !text || (number && !('number' in number))) throw invalid(faults)
      const { accountId } = request.caller
      const shown = showText(text, number?.warnings ?? [])
      const planned =
        number && (await planText(acceptor, request.caller, text, { number: number.number, type: body.type ?? null }))
      return {
        ...shown,
        warnings: [...shown.warnings, ...quietWarnings(planned)],
        to: number && number.number,
        opted_out: number && (await isOptedOut(db, vault, accountId, number.number)),
        ...(planned && showPrices(planned, text)),
      }
    },
  )
}

/** Which way a text would go to a number now, as the only message of its kind; undefined: nothing could say. */
export async function planText(
  acceptor: Pick<Acceptor, 'plan'>,
  { accountId, mode }: Caller,
  { body, encoding, characters, segments }: Text,
  to: { number: string; type: MessageType | null; campaignId?: string | null },
): Promise<Planned | undefined> {
  const draft = {
    ...plainDraft,
    accountId,
    theirNumber: to.number,
    type: to.type,
    campaignId: to.campaignId ?? null,
    body,
    encoding,
    characters,
    segments,
    isTest: mode === 'test',
  }
  const [planned] = await acceptor.plan([draft])
  return planned
}

/** What the answer to a send would say of quiet hours. */
export const quietWarnings = (planned: Pick<Planned, 'opensAt'> | null | undefined): Warning[] =>
  planned?.opensAt ? [quietWarning(planned.opensAt)] : []

/** What a text would cost over each carrier of its route, in the order in which they are tried. */
function showPrices(
  planned: Pick<Planned, 'estimate' | 'route'>,
  { segments }: Text,
): Pick<Static<typeof Preview>, 'estimated_price' | 'routes'> {
  const { chain, prices } = planned.route.choice
  const show = (price: Money | null): Static<typeof MoneySchema> | null =>
    price && showMoney(price.amount, price.currency)
  return {
    estimated_price: show(planned.estimate),
    routes: chain.map((id, i) => {
      const price = prices?.[i] ?? null
      return { carrier: showId('car', id), cost: show(price && { ...price, amount: price.amount * segments }) }
    }),
  }
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
