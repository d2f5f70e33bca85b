import { countSegments, cutSegments, joinParts, readPart } from '@heliogram/smpp'
import type { Static } from 'typebox'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { problems, type App, type Caller } from '../ground/http/http.ts'
import { showId, parseId } from '../ground/base/ids.ts'
import { Faults } from '../ground/http/faults.ts'
import { showMoney, type Money, type MoneySchema } from '../ground/base/money.ts'
import type { Acceptor } from './accept.ts'
import type { Draft, Planned } from '../message/draft.ts'
import type { DraftContext } from './draft.ts'
import { readNumber } from '../ground/numbers/number.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { quietWarning } from '../quiet-hours/quiet-hours.ts'
import { Preview, PreviewBody } from './preview-schema.ts'
import { refusalError, type MessagesContext } from './send.ts'
import { listSendFaults } from './send-faults.ts'
import { compileVariants } from '../templates/resource.ts'
import { loadTemplates, readSend, type SendInput, type Templates, type Variables } from './read-send.ts'
import type { Text } from './text.ts'
import type { Queryable } from '../ground/db/db.ts'
import type { MessageType } from '../message/message.ts'
import type { TemplateTexts } from '../templates/store.ts'

export type PreviewContext = Pick<MessagesContext, 'db' | 'vault' | 'shortUrl'> & { acceptor: Pick<Acceptor, 'plan'> }

export function previewRoute(app: App, context: PreviewContext): void {
  const { db, shortUrl = null } = context
  app.post(
    '/v1/messages/preview',
    {
      schema: {
        operationId: 'previewMessage',
        summary: 'Preview a message',
        description:
          'A text, a template with its values, or only a `campaign`, whose own text is then used. A campaign also sets type, sender and short links, unless the body does. Texts of templates and campaigns need the scope campaigns:read.',
        body: PreviewBody,
        response: { 200: Preview, ...problems(413, 415) },
      },
      config: { scope: 'messages:read', testKeys: 'changes nothing' },
      attachValidation: true,
    },
    async (request) => {
      const { caller } = request
      const faults = new Faults(request)
      const isWhole = faults.all.length === 0
      const sound = faults.sound(request.body)
      const campaign =
        sound.campaign === undefined ? null : await findCampaignDefaults(db, caller.accountId, sound.campaign)
      if (sound.campaign !== undefined && !campaign)
        faults.found.push(...(refusalError('campaign_not_found').options.errors ?? []))
      const isOwn = sound.message !== undefined || sound.template !== undefined
      const isOfCampaign = !isOwn && isWhole && campaign?.text != null
      if ((sound.template !== undefined || isOfCampaign) && !caller.scopes.has('campaigns:read'))
        throw new ApiError('insufficient_scope', { detail: 'The token lacks the scope campaigns:read.' })
      const templates = new Map(await loadTemplates(db, caller.accountId, [sound]))
      const body: Partial<SendInput> = { ...request.body }
      if (isOfCampaign && campaign?.text) {
        templates.set(ofCampaign, compileVariants(campaign.text.texts))
        body.template = ofCampaign
        body.variables = { ...campaign.text.variables, ...body.variables }
      }
      if (!isWhole) {
        const given = request.body as SendInput
        throw invalid(listSendFaults(given, faults.all, templates, draftChecks(caller, shortUrl, campaign)))
      }
      return showPreview(context, caller, body, { campaign, templates, faults: faults.all })
    },
  )
}

// No template can have this name.
const ofCampaign = '(campaign)'

const draftChecks = (caller: Caller, shortUrl: string | null, campaign: CampaignDefaults | null): DraftContext => ({
  accountId: caller.accountId,
  isTest: caller.mode === 'test',
  defaultCountry: caller.defaultCountry ?? null,
  senderCountry: caller.senderCountry,
  refuseUrl: () => null,
  shortUrl,
  ...(campaign?.shortensUrls && { shortensByDefault: new Set([showId('cmp', campaign.id)]) }),
})

// A valid number in place of a missing recipient.
const soundNumber = '+15551234567'

/** Shows the result and the price of sending this body now. `faults` are already known. @throws ApiError with all faults, as a send does. */
export async function showPreview(
  { db, vault, acceptor, shortUrl = null }: PreviewContext,
  caller: Caller,
  input: Partial<SendInput>,
  { campaign, templates, faults }: { campaign: CampaignDefaults | null; templates: Templates; faults: FieldError[] },
): Promise<Static<typeof Preview>> {
  const { to } = input
  const type = input.type ?? campaign?.type
  const { campaign: _name, ...own } = input
  const body = {
    ...own,
    to: to ?? soundNumber,
    ...(type && { type }),
    ...(campaign && { campaign: showId('cmp', campaign.id) }),
  }
  const checks = draftChecks(caller, shortUrl, campaign)
  const draft = readSend(body, templates, checks)
  if (faults.length > 0 || Array.isArray(draft)) throw invalid([...faults, ...(Array.isArray(draft) ? draft : [])])
  const stand = to === undefined ? readNumber(soundNumber) : null
  const ofStand = stand && 'number' in stand ? stand.warnings.length : 0
  const text = { ...draft, warnings: draft.warnings?.slice(ofStand) ?? [] }
  const number = to === undefined ? null : draft.theirNumber
  const [planned] = number === null ? [] : await acceptor.plan([draft])
  const refusal = planned?.route.refusal
  // Only refusals of the body's own fields; other members of the preview report the rest.
  if (refusal && ['sender_not_found', 'sender_not_allowed', 'pool_not_found'].includes(refusal) && asksForSender(input))
    throw refusalError(refusal)
  return {
    ...showText(text),
    warnings: [...text.warnings, ...(planned?.opensAt ? [quietWarning(planned.opensAt)] : [])],
    to: number,
    from: planned?.route.sender.sender?.number ?? null,
    campaign: campaign && showId('cmp', campaign.id),
    type: planned?.route.message.type ?? type ?? 'transactional',
    opted_out: number === null ? null : await isOptedOut(db, vault, caller.accountId, number),
    ...(planned && showPrices(planned, text)),
  }
}

const asksForSender = ({ from, sender_pool: pool }: Partial<SendInput>): boolean =>
  from !== undefined || pool !== undefined

/** Costs per carrier of the route, in the order of attempts. */
function showPrices(
  planned: Pick<Planned, 'estimate' | 'route'>,
  { segments }: Pick<Draft, 'segments'>,
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

function showText({ body, encoding, characters, segments, warnings }: Omit<Text, 'units'>) {
  return {
    object: 'preview' as const,
    message: body,
    encoding,
    characters,
    segments,
    parts: cutText(body, encoding),
    replaced: warnings.flatMap((warning) => warning.replaced ?? []),
  }
}

/** Decoded from the exact octets that would be submitted. */
function cutText(text: string, encoding: 'GSM-7' | 'UCS-2'): { text: string; characters: number }[] {
  const pdus = cutSegments(text, { encoding: encoding === 'GSM-7' ? 'gsm7' : 'ucs2', mode: 'udh8', reference: 0 })
  return pdus.map((pdu) => {
    const part = joinParts([{ ...readPart(pdu), concatenation: null }]).text ?? ''
    return { text: part, characters: countSegments(part).characters }
  })
}

/** The defaults that shape a text; routing finds the sender. */
interface CampaignDefaults {
  id: string
  type: MessageType | null
  shortensUrls: boolean
  /** The text of its broadcasts with its values, or null. */
  text: { texts: TemplateTexts; variables: Variables } | null
}

/** By the primary key or the unique (account_id, key), and a template's primary key. */
async function findCampaignDefaults(
  db: Queryable,
  accountId: string,
  idOrKey: string,
): Promise<CampaignDefaults | null> {
  const id = parseId('cmp', idOrKey)
  const { rows } = await db.query<
    Omit<CampaignDefaults, 'text'> & { message: string | null; variables: Variables } & Partial<TemplateTexts>
  >(
    `select c.id, c.type, coalesce(c.shorten_urls, false) as "shortensUrls", c.message, c.variables, t.body, t.language, t.languages
     from campaigns c
     left join templates t on t.account_id = c.account_id and t.id = c.template_id
     where c.account_id = $1
       and c.${id === null ? 'key' : 'id'} = $2`,
    [accountId, id ?? idOrKey],
  )
  const [row] = rows
  if (!row) return null
  const { message, variables, body, language, languages, ...defaults } = row
  const texts =
    message !== null
      ? { body: message, language: 'en', languages: {} }
      : body && language && languages
        ? { body, language, languages }
        : null
  return { ...defaults, text: texts && { texts, variables } }
}
