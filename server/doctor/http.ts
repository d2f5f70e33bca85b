import { Type } from 'typebox'
import { IdOf, Nullable, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent, type RouteContext } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { countOrphans, type OrphanCount } from '../inbound/orphans.ts'
import {
  bestForm,
  diagnose,
  examinedMax,
  idForms,
  listDoctored,
  type Diagnosis,
  type DoctoredLink,
  type Example,
} from './doctor.ts'
import { countContradictions, countReported, isOneReceipt, type Contradictions, type LongMessages } from './findings.ts'
import { requestRematch } from './rekey.ts'
import { requireCarrier } from '../links/carrier-store.ts'

export const carrierParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a carrier.' }) })
const numbersMax = 20
const Form = Type.Enum(Object.keys(idForms))

const Doctor = Type.Object(
  {
    object: Type.Literal('doctor'),
    carrier: IdOf('car', 'The carrier.'),
    hours: Type.Integer(),
    links: Type.Array(
      Type.Object({
        link: IdOf('lnk', 'The link.'),
        message_id_form: Form,
        unmatched: Type.Integer({ description: 'Receipts without a message in these hours, up to a million.' }),
        forgotten: Type.Integer({ description: 'Receipts deleted after 30 days without a message, in total.' }),
        examined: Type.Integer({ description: `The newest of them, up to ${examinedMax}.` }),
        forms: Type.Array(
          Type.Object({
            form: Form,
            would_match: Type.Integer({
              description: 'Of the examined receipts, those that would match messages waiting for one.',
            }),
            example: Nullable(
              Type.Object({ raw_id: Type.String(), carrier_message_id: Type.String(), message: Type.String() }),
            ),
          }),
        ),
        sampled: Type.Integer({ description: "The carrier's ids that were examined." }),
        settled: Type.Integer({ description: 'Of these, messages that have their receipt in the current form.' }),
        advice: Type.String(),
        fix: Nullable(
          Type.Object({
            method: Type.Literal('PATCH'),
            path: Type.String(),
            body: Type.Object({ settings: Type.Object({ message_id_form: Form }) }),
          }),
        ),
        findings: Type.Array(
          Type.Object({
            code: Type.Enum(['one_receipt', 'contradicting_receipts']),
            count: Type.Integer({
              description:
                'Long messages of which exactly one part was reported, in a sample; or receipts whose TLV and text have different final states, up to 1000.',
            }),
            message: Nullable(IdOf('msg', 'One of the messages.')),
            advice: Type.String(),
            fix: Nullable(
              Type.Object({
                method: Type.Literal('PATCH'),
                path: Type.String(),
                body: Type.Object({ settings: Type.Object({ one_receipt: Type.Boolean() }) }),
              }),
            ),
          }),
          { description: 'What the receipts of known messages show about the carrier; usually empty.' },
        ),
        rematch: Type.Object(
          {
            state: Type.Enum(['none', 'due', 'watching', 'done']),
            requested_at: Nullable(Timestamp('When the form changed, or a rematch was requested.')),
            rekeyed: Type.Integer({ description: 'Ids that were converted.' }),
            matched: Type.Integer({ description: 'Receipts that found their message.' }),
          },
          {
            description:
              '`watching`: done once; repeated shortly, for receipts that arrived while the link was binding.',
          },
        ),
      }),
    ),
    replies: Type.Array(
      Type.Object({
        number: Type.String({ description: 'The number as the carrier wrote it.' }),
        count: Type.Integer({ description: 'Replies to it.' }),
        last_received_at: Timestamp('When the newest arrived.'),
        last: IdOf('orp', 'The newest of them.'),
        advice: Type.String(),
      }),
      { description: `Numbers that received replies and belong to no account, up to ${numbersMax}; usually empty.` },
    ),
  },
  { $id: 'ReceiptDoctor' },
)

export function doctorRoutes(app: App, context: RouteContext): void {
  const { db } = context
  app.addSchema(Doctor)

  app.get(
    '/v1/carriers/:id/doctor',
    {
      schema: {
        operationId: 'diagnoseReceipts',
        summary: 'Diagnose receipts without a message',
        description:
          'Tries the receipts without a message in every form in which carriers write ids, and suggests the setting that matches most.',
        params: carrierParams,
        querystring: Type.Object(
          {
            hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 720, default: 24, description: 'How far back.' })),
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Ref('ReceiptDoctor'), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const { hours = 24 } = request.query
      const { id: carrierId } = await requireCarrier(db, request.params.id)
      const links: Record<string, unknown>[] = []
      // Sequential: each takes a share of the database, and there are few.
      for (const link of await listDoctored(db, carrierId))
        links.push({
          ...renderDiagnosis(carrierId, link, await diagnose(db, link, hours), hours),
          findings: [
            ...tellLongMessages(carrierId, link, await countReported(db, link.id, hours)),
            ...tellContradictions(await countContradictions(db, link.id, hours)),
          ],
        })
      const replies = (await countOrphans(db, carrierId, numbersMax)).map(renderOrphans)
      return { object: 'doctor', carrier: showId('car', carrierId), hours, links, replies }
    },
  )

  app.post(
    '/v1/carriers/:id/doctor/rematch',
    {
      schema: {
        operationId: 'rematchReceipts',
        summary: 'Match receipts without a message again',
        description:
          'Runs in the background, as after every change of `message_id_form`; the doctor shows the progress.',
        params: carrierParams,
        response: { 202: Type.Object({ object: Type.Literal('rematch'), links: Type.Integer() }), ...problems(404) },
      },
      config: { scope: 'carriers:write', audit: 'carrier.rematched' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { id: carrierId } = await requireCarrier(tx, request.params.id)
        return { status: 202, body: { object: 'rematch', links: await requestRematch(tx, carrierId) } }
      }),
  )
}

function renderDiagnosis(
  carrierId: string,
  link: DoctoredLink,
  diagnosis: Diagnosis,
  hours: number,
): Record<string, unknown> {
  const best = bestForm(diagnosis, link.form)
  const isWatched = link.changedAt !== null && link.settledAt === null
  return {
    link: showId('lnk', link.id),
    message_id_form: link.form,
    unmatched: diagnosis.unmatched,
    forgotten: link.forgotten,
    examined: diagnosis.examined,
    forms: diagnosis.forms.map(({ form, wouldMatch, example }) => ({
      form,
      would_match: wouldMatch,
      example: example && renderExample(example),
    })),
    sampled: diagnosis.sampled,
    settled: diagnosis.settled,
    advice: adviseOn(link, diagnosis, hours),
    // A link with its own form does not follow its carrier's.
    fix:
      best === null || link.isOwnForm
        ? null
        : {
            method: 'PATCH',
            path: `/v1/carriers/${showId('car', carrierId)}`,
            body: { settings: { message_id_form: best.form } },
          },
    rematch: {
      state: link.changedAt === null ? 'none' : !isWatched ? 'done' : link.passedAt === null ? 'due' : 'watching',
      requested_at: showTime(link.changedAt),
      rekeyed: link.rekeyed,
      matched: link.matched,
    },
  }
}

function tellLongMessages(carrierId: string, link: DoctoredLink, long: LongMessages): Record<string, unknown>[] {
  if (link.isOneReceipt || !isOneReceipt(long)) return []
  const { one, more, exampleId } = long
  const fix = {
    method: 'PATCH',
    path: `/v1/carriers/${showId('car', carrierId)}`,
    body: { settings: { one_receipt: true } },
  }
  return [
    {
      code: 'one_receipt',
      count: one,
      message: exampleId && showId('msg', exampleId),
      advice: `Of ${one} of ${one + more} long messages exactly one part was reported: the carrier sends one receipt for all parts. Set one_receipt to true; it applies to receipts of later messages.`,
      // A link with its own setting does not follow its carrier's.
      fix: link.isOwnReceipt ? null : fix,
    },
  ]
}

function tellContradictions({ count, example }: Contradictions): Record<string, unknown>[] {
  if (!example) return []
  const { rawId, stat, contradicts, messageId } = example
  return [
    {
      code: 'contradicting_receipts',
      count,
      message: messageId && showId('msg', messageId),
      advice: `${count} receipts have two different final states, such as ${contradicts} and ${stat} in that of ${rawId}: ${contradicts} counted. Ask the carrier which of the two is right.`,
      fix: null,
    },
  ]
}

function renderOrphans({ number, count, lastAt, lastId }: OrphanCount): Record<string, unknown> {
  const last = showId('orp', lastId)
  const them = count === 1 ? 'One reply' : `${count} replies`
  return {
    number,
    count,
    last_received_at: showTime(lastAt),
    last,
    advice: `${them} arrived for ${number}, which belongs to no account at this carrier, or from national numbers of an unknown country. If ${number} is a sender of this carrier already, set the carrier's \`country\`. If the number is yours, register it as a sender of this carrier. If the carrier uses it for another of your numbers, assign the replies to that sender: POST /v1/orphan-replies/${last}/give.`,
  }
}

const renderExample = ({ rawId, carrierMessageId, messageId }: Example): Record<string, unknown> => ({
  raw_id: rawId,
  carrier_message_id: carrierMessageId,
  message: showId('msg', messageId),
})

/** Advice for a person, in a sentence or two. */
function adviseOn(link: DoctoredLink, diagnosis: Diagnosis, hours: number): string {
  const { unmatched, examined, sampled, settled } = diagnosis
  if (unmatched === 0) return `Every receipt of the last ${hours} h has its message.`
  const best = bestForm(diagnosis, link.form)
  const ofThem = examined < unmatched ? `the newest ${examined} of ${unmatched} receipts` : `${unmatched} receipts`
  if (best) {
    const what = `${best.wouldMatch} of ${ofThem} without a message would match with ${idForms[best.form]}: set message_id_form to ${best.form}.`
    return settled * 2 > sampled
      ? `${what} But most messages have their receipt in the current form: ask the carrier before you change it.`
      : `${what} Past and future ones will then match.`
  }
  const asIs = diagnosis.forms.find(({ form }) => form === link.form)?.wouldMatch ?? 0
  if (asIs > 0) return `${asIs} of ${ofThem} match as they are: they are matched within a minute, or request a rematch.`
  return `None of ${ofThem} matches in any form: they may belong to another client with this system_id, or be older than the stored ids.`
}
