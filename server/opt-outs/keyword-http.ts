import { Type } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import { Nullable, PageOf, pageQuery, problems, Timestamp, type App } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { maskNumber } from '../ground/base/mask.ts'
import { readPage } from '../ground/http/page.ts'
import { Faults } from '../ground/http/faults.ts'
import {
  checkKeywords,
  findKeywords,
  KeywordInput,
  mergeKeywords,
  saveKeywords,
  showKeywords,
  sourcesOf,
} from './keyword-settings.ts'
import { suspicionActions } from './keywords.ts'
import { optOut } from './opt-out.ts'
import { change, originOf, type OptOutsContext } from './http.ts'
import { listSuspicions, takeSuspicion, type SuspicionRow } from './suspicion.ts'
import { findCampaignId } from '../message/store.ts'

const querystring = Type.Object(
  {
    campaign: Type.Optional(
      Type.String({ maxLength: 255, description: 'Id or key of a campaign; default: the account.' }),
    ),
  },
  { additionalProperties: false },
)

const words = Type.Array(Type.String())
const answer = Nullable(Type.String())
const settings = {
  stop_keywords: words,
  start_keywords: words,
  help_keywords: words,
  replies: Type.Object({ stop: answer, start: answer, help: answer }),
  on_suspicion: Type.Enum([...suspicionActions]),
}
const source = Type.Enum(['account', 'defaults'])
const Keywords = Type.Object(
  {
    object: Type.Literal('keywords'),
    campaign: Nullable(Type.String()),
    ...settings,
    own: Type.Unsafe<KeywordInput>({
      type: 'object',
      additionalProperties: true,
      description: 'Set here; the rest is inherited.',
    }),
    inherited: Type.Object(
      {
        ...settings,
        from: Type.Object({
          stop_keywords: source,
          start_keywords: source,
          help_keywords: source,
          replies: Type.Object({ stop: source, start: source, help: source }),
          on_suspicion: source,
        }),
      },
      { description: 'The values if nothing were set here, with their source in `from`.' },
    ),
  },
  { $id: 'Keywords' },
)

const Suspicion = Type.Object(
  {
    object: Type.Literal('opt_out_suspicion'),
    message: Type.String({ description: 'Id of the reply.' }),
    number: Type.String({ description: 'Masked without the scope contacts:read.' }),
    text: Nullable(Type.String({ description: 'Null without the scope messages:read_body.' })),
    campaign: Nullable(Type.String()),
    created_at: Timestamp('When it arrived.'),
  },
  { $id: 'OptOutSuspicion' },
)

export function keywordRoutes(app: App, context: OptOutsContext): void {
  app.addSchema(Keywords)
  app.addSchema(Suspicion)
  routesOfKeywords(app, context)
  routesOfSuspicions(app, context)
}

function routesOfKeywords(app: App, context: OptOutsContext): void {
  const { db } = context
  app.get(
    '/v1/opt-outs/keywords',
    {
      schema: {
        operationId: 'getKeywords',
        summary: 'Get keywords',
        querystring,
        response: { 200: Type.Ref('Keywords'), ...problems(404) },
      },
      config: { scope: 'settings:read' },
    },
    ({ query, caller }) => readKeywords(db, caller.accountId, query.campaign),
  )

  app.put(
    '/v1/opt-outs/keywords',
    {
      schema: {
        operationId: 'replaceKeywords',
        summary: 'Update keywords',
        description:
          'Replaces the keywords set here. Those left out are inherited: by a campaign from the account, by the account from the defaults. A reply uses the campaign of the last message to the person. STOP always opts out.',
        querystring,
        body: KeywordInput,
        response: { 200: Type.Ref('Keywords'), ...problems(404) },
      },
      config: { scope: 'settings:write', audit: 'keywords.updated' },
      attachValidation: true,
    },
    (request, reply) =>
      change(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const { campaign } = request.query
        const campaignId = await readCampaignId(tx, accountId, campaign)
        const inherited = campaignId === null ? null : await findKeywords(tx, accountId, null)
        faults.found.push(...checkKeywords(faults.sound(request.body), inherited))
        faults.end()
        const before = await readKeywords(tx, accountId, campaign)
        await saveKeywords(tx, accountId, campaignId, request.body)
        const body = await readKeywords(tx, accountId, campaign)
        return { status: 200, body, postings: [], audit: { target: body.campaign ?? 'account', before } }
      }),
  )
}

async function readKeywords(db: Queryable, accountId: string, campaign: string | undefined) {
  const campaignId = await readCampaignId(db, accountId, campaign)
  const ofAccount = await findKeywords(db, accountId, null)
  const ofCampaign = campaignId === null ? null : await findKeywords(db, accountId, campaignId)
  const inherited = campaignId === null ? null : ofAccount
  return {
    object: 'keywords' as const,
    campaign: campaignId && showId('cmp', campaignId),
    ...showKeywords(mergeKeywords([ofAccount, ofCampaign])),
    own: (campaignId === null ? ofAccount : ofCampaign) ?? {},
    inherited: { ...showKeywords(mergeKeywords([inherited])), from: sourcesOf(inherited) },
  }
}

/** A campaign by id or key; null without one. @throws ApiError `not_found`. */
async function readCampaignId(db: Queryable, accountId: string, text: string | undefined): Promise<string | null> {
  if (text === undefined) return null
  const id = await findCampaignId(db, accountId, text)
  if (id === null) throw new ApiError('not_found', { detail: 'There is no such campaign.' })
  return id
}

function routesOfSuspicions(app: App, context: OptOutsContext): void {
  const { db } = context
  app.get(
    '/v1/opt-outs/suspected',
    {
      schema: {
        operationId: 'listSuspectedOptOuts',
        summary: 'List suspected opt-outs',
        description:
          'Such as `no more texts`, `STOP 12345`: they have no effect until somebody decides or the person opts out; then they leave the list.',
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('OptOutSuspicion')), ...problems() },
      },
      config: { scope: 'messages:read' },
    },
    ({ query, caller: { accountId, scopes } }) =>
      readPage(
        query,
        'suspected',
        (...place) => listSuspicions(db, accountId, ...place),
        (row) => showSuspicion(row, scopes),
      ),
  )

  app.post(
    '/v1/opt-outs/suspected/:message',
    {
      schema: {
        operationId: 'decideSuspectedOptOut',
        summary: 'Resolve a suspected opt-out',
        params: Type.Object({ message: Type.String({ maxLength: 255, description: 'Id of the reply.' }) }),
        body: Type.Object(
          { action: Type.Enum(['opt_out', 'dismiss'], { description: '`dismiss`: it did not mean STOP.' }) },
          { additionalProperties: false, examples: [{ action: 'dismiss' }] },
        ),
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'contacts:write', audit: 'opt_out.suspicion_decided' },
    },
    (request, reply) =>
      change(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const id = parseId('msg', request.params.message)
        const taken = id && (await takeSuspicion(tx, accountId, id))
        if (!taken) throw new ApiError('not_found', { detail: 'There is no suspected opt-out for this reply.' })
        const audit = { after: request.body }
        if (request.body.action === 'dismiss') return { status: 204, postings: [], audit }
        const { number, body: text, campaignId, broadcastId } = taken
        const origin = { ...originOf(request.caller, 'review'), messageId: id, campaignId, broadcastId }
        const person = { number, ...(text !== null && !context.texts?.isSealing && { evidence: { text } }) }
        const { postings } = await optOut(tx, context, accountId, origin, [person])
        return { status: 204, postings, audit }
      }),
  )
}

function showSuspicion(row: SuspicionRow, scopes: ReadonlySet<string>) {
  return {
    object: 'opt_out_suspicion' as const,
    message: showId('msg', row.id),
    number: scopes.has('contacts:read') ? row.number : maskNumber(row.number),
    text: scopes.has('messages:read_body') ? row.body : null,
    campaign: row.campaignId && showId('cmp', row.campaignId),
    created_at: row.createdAt.toISOString(),
  }
}
