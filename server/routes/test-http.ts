/** POST /v1/routes/test: explains the route of a message. Sends and stores nothing. */
import { countSegments } from '@heliogram/smpp'
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { IdOf, Nullable, problems, type App } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readSender } from '../ground/numbers/sender.ts'
import { messageTypes } from '../message/message.ts'
import { countryOf, readNumber } from '../ground/numbers/number.ts'
import { MoneySchema, showMoney } from '../ground/base/money.ts'
import type { RouteRequest } from '../message/routing.ts'
import { Faults } from '../ground/http/faults.ts'
import type { CarriersContext } from '../carriers/http.ts'
import { explainMiss, explainOutcome, explainSender, explainSenderFault } from './explain.ts'
import { findAccount } from './input.ts'
import { findRates } from '../rates/store.ts'
import { compileRates } from '../rates/rate.ts'
import { listRoutes, ruleOf, type RouteRow } from './store.ts'
import { chooseRoute, type RouteChoice, type RuleTrace } from './route.ts'
import { readFacts } from './routing-facts.ts'
import { planRoute, type RoutePlan } from './routing.ts'
import { listCarriers, listLinks, type CarrierRow, type LinkRow } from '../links/carrier-store.ts'

const TestBody = Type.Object(
  {
    to: Type.String({ minLength: 1, maxLength: 32, description: 'E.164.', examples: ['+15551230001'] }),
    account: Type.Optional(
      Type.String({ maxLength: 255, description: 'The account that sends the message; default: yours.' }),
    ),
    from: Type.Optional(Type.String({ minLength: 1, maxLength: 16 })),
    sender_pool: Type.Optional(Type.String({ maxLength: 255 })),
    type: Type.Optional(Type.Enum([...messageTypes])),
    campaign: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id or key.' })),
    message: Type.Optional(Type.String({ maxLength: 1600, description: 'For its segments; default: one segment.' })),
  },
  { additionalProperties: false },
)

const state = Type.Enum(['down', 'binding', 'bound', 'throttled', 'disabled'])
const RouteTest = Type.Object({
  object: Type.Literal('route_test'),
  outcome: Type.Enum(['sent', 'held', 'refused'], {
    description: '`held`: it is accepted and waits, because no carrier of the chain is enabled and bound.',
  }),
  detail: Type.String(),
  refusal: Nullable(Type.String({ description: 'Code of the error that a send would return.' })),
  to: Type.String(),
  country: Nullable(Type.String({ description: 'Of the recipient, by the numbering plans.' })),
  type: Type.Enum([...messageTypes]),
  campaign: Nullable(IdOf('cmp', 'Its campaign.')),
  segments: Type.Integer(),
  sender: Type.Object({
    number: Nullable(Type.String({ description: "Null: the carrier's own." })),
    sender: Nullable(IdOf('snd', 'Id of the sender.')),
    rule: Type.String({ description: 'The rule that chose it.' }),
    detail: Type.String(),
    passed_over: Type.Array(
      Type.Object({ sender: IdOf('snd', 'Id.'), number: Type.String(), reason: Type.String(), detail: Type.String() }),
    ),
  }),
  route: Nullable(IdOf('rte', 'The route that is used; null: the default route, or none.')),
  chain: Type.Array(
    Type.Object({
      carrier: IdOf('car', 'The carrier.'),
      name: Type.String(),
      weight: Nullable(Type.Integer({ description: 'Its share of the route; null: failover, or the default route.' })),
      cost: Nullable(MoneySchema),
      links: Type.Array(Type.Object({ link: IdOf('lnk', 'The link.'), state })),
    }),
    { description: 'In the order in which carriers are tried; with weights, one possible order.' },
  ),
  rules: Type.Array(
    Type.Object({
      route: IdOf('rte', 'The route.'),
      position: Type.Integer(),
      name: Nullable(Type.String()),
      matched: Type.Boolean(),
      taken: Type.Boolean(),
      reason: Nullable(Type.String({ description: 'The condition that did not match.' })),
      detail: Type.String(),
    }),
    { description: 'Every route in order.' },
  ),
})

export function routeTestRoutes(app: App, { db }: CarriersContext): void {
  app.post(
    '/v1/routes/test',
    {
      schema: {
        operationId: 'testRoute',
        summary: 'Test routing',
        body: TestBody,
        response: { 200: RouteTest, ...problems() },
      },
      config: { scope: 'routes:read', testKeys: 'changes nothing' },
      attachValidation: true,
    },
    async (request) => {
      const faults = new Faults(request).needFields()
      const asked = await readRequest(db, faults, request.body, request.caller.accountId)
      faults.end()
      const [routes, carriers, links, facts, rates] = await Promise.all([
        listRoutes(db),
        listCarriers(db),
        listLinks(db),
        readFacts(db, [asked]),
        findRates(db, asked.to, countryOf(asked.to)),
      ])
      const rules = routes.map(ruleOf)
      const rateOf = compileRates(rates)
      let trace: RuleTrace[] = []
      const plan = planRoute(asked, facts, (message) => {
        const chosen = chooseRoute(
          rules,
          carriers.filter(({ isTest }) => !isTest),
          message,
          rateOf,
        )
        trace = chosen.trace
        return chosen
      })
      return render(plan, { routes, carriers, links, trace })
    },
  )
}

async function readRequest(
  db: Queryable,
  faults: Faults,
  body: Static<typeof TestBody>,
  ownAccountId: string,
): Promise<RouteRequest> {
  const to = faults.isSound('#/to') ? readNumber(body.to) : null
  if (to && !('number' in to)) faults.add('#/to', to.code, to.detail)
  const from = faults.isSound('#/from') && body.from !== undefined ? readSender(body.from) : null
  if (from instanceof Object) faults.add('#/from', from.code, from.detail)
  const isOther = body.account !== undefined && faults.isSound('#/account')
  const accountId = isOther ? await findAccount(db, body.account ?? '') : ownAccountId
  if (accountId === null) faults.add('#/account', 'invalid_value', 'is not an account of this installation')
  const isPooled = body.sender_pool !== undefined && faults.isSound('#/sender_pool')
  const poolId = isPooled ? parseId('pol', body.sender_pool ?? '') : null
  if (isPooled && poolId === null) faults.add('#/sender_pool', 'invalid_value', 'is not a pool of the account')
  const campaignId = faults.isSound('#/campaign') && body.campaign ? parseId('cmp', body.campaign) : null
  return {
    // Fixed, so that the same question has the same answer.
    messageId: 'test',
    accountId: accountId ?? ownAccountId,
    to: to && 'number' in to ? to.number : '',
    from: typeof from === 'string' ? from : null,
    poolId,
    campaignId,
    campaignKey: campaignId === null ? (body.campaign ?? null) : null,
    type: body.type ?? null,
    segments: faults.isSound('#/message') && body.message ? countSegments(body.message).segments : 1,
    // Messages of test keys have no routes.
    isTest: false,
  }
}

function render(
  plan: RoutePlan,
  known: { routes: RouteRow[]; carriers: CarrierRow[]; links: LinkRow[]; trace: RuleTrace[] },
): Static<typeof RouteTest> {
  const { sender, message, choice, refusal } = plan
  const route = known.routes.find(({ id }) => id === choice.ruleId) ?? null
  const chain = renderChain(choice, route, known)
  const isUp = chain.some(({ links }) => links.some((link) => link.state === 'bound' || link.state === 'throttled'))
  return {
    object: 'route_test',
    outcome: refusal ? 'refused' : choice.isHeld || !isUp ? 'held' : 'sent',
    detail: explainOutcome(plan, route, isUp),
    refusal,
    to: message.to,
    country: message.country,
    type: message.type,
    campaign: message.campaignId && showId('cmp', message.campaignId),
    segments: message.segments,
    sender: {
      number: sender.sender?.number ?? null,
      sender: sender.sender && showId('snd', sender.sender.id),
      rule: sender.rule,
      detail: explainSender(sender),
      passed_over: sender.passedOver.map((one) => ({
        sender: showId('snd', one.sender.id),
        number: one.sender.number,
        reason: one.fault,
        detail: explainSenderFault(one.fault),
      })),
    },
    route: route && showId('rte', route.id),
    chain,
    rules: known.trace.map(({ miss, isTaken }, i) => ({
      route: showId('rte', known.routes[i]?.id ?? ''),
      position: i + 1,
      name: known.routes[i]?.name ?? null,
      matched: miss === null,
      taken: isTaken,
      reason: miss,
      detail: miss
        ? explainMiss(miss)
        : isTaken
          ? 'It is the first that matches.'
          : 'It matches, but so does an earlier one.',
    })),
  }
}

function renderChain(
  { chain, prices }: RouteChoice,
  route: RouteRow | null,
  { carriers, links }: { carriers: CarrierRow[]; links: LinkRow[] },
): Static<typeof RouteTest>['chain'] {
  return chain.map((id, i) => {
    const member = route?.carriers.find(({ carrierId }) => carrierId === id)
    const price = prices?.[i] ?? null
    return {
      carrier: showId('car', id),
      name: carriers.find((carrier) => carrier.id === id)?.name ?? '',
      weight: member?.weight ?? null,
      cost: price && showMoney(price.amount, price.currency),
      links: links
        .filter(({ carrierId }) => carrierId === id)
        .map((link) => ({
          link: showId('lnk', link.id),
          state: !link.enabled ? 'disabled' : link.isStale ? 'down' : link.state,
        })),
    }
  })
}
