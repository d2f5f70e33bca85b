/** Routes that HTTP carriers call: public, protected by a secret in the address and by the carrier's signature if it signs. */
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { Type, type Static } from 'typebox'
import { allowNetworks, readNetworks } from '../accounts/networks.ts'
import { now } from '../ground/db/clock.ts'
import { ApiError } from '../ground/base/errors.ts'
import type { App } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import { networkOf } from '../ground/base/network.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { findCarrier } from '../links/carrier-store.ts'
import type { InRequest, Secrets } from './adapter.ts'
import { adapters } from './adapters.ts'
import { inboundPath, isToken, type InboundKind } from './address.ts'
import { FieldsError } from './fields.ts'
import { findLinkOf, forgetAnswered, storeHttpReply, storeReceipt, type HttpReceiveContext } from './inbound.ts'
import { openSecrets } from './sealed.ts'

export interface InboundContext {
  receiving: HttpReceiveContext
  vault: Vault
  /** Our address as carriers call it; they sign it. */
  publicUrl: string
  /** Requests that were not believed or not readable, counted by carrier. */
  refusals: Map<string, number>
}

// Infobip sends up to a hundred reports at a time.
const bodyBytesMax = 1 << 20
// Receipts and replies of one request that are stored at a time.
const itemsMax = 1000

// About 2 MB; the carrier let in the longest ago is dropped first, and metered with its network again.
const knownMax = 10_000

const Params = Type.Object({ carrier: Type.String({ maxLength: 64 }), token: Type.String({ maxLength: 64 }) })

export function inboundRoutes(app: App, context: InboundContext): void {
  void app.register((child, _options, done) => {
    // Signatures cover the bytes as received.
    child.removeAllContentTypeParsers()
    child.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    // Carriers that were believed, by network.
    const known = new Set<string>()
    const options: RouteShorthandOptions = {
      bodyLimit: bodyBytesMax,
      schema: { hide: true, params: Params },
      config: { scope: null, isLogin: true, isKnown: (request) => known.has(callerOf(request)) },
    }
    for (const kind of ['receipts', 'replies'] as const) {
      const handle = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
        receive(context, kind, known, request, reply)
      child.post(`${inboundPath}/${kind}`, options, handle)
      child.get(`${inboundPath}/${kind}`, { ...options, exposeHeadRoute: false }, handle)
    }
    done()
  })
}

/** A caller: the address it called, and its network. */
function callerOf({ params, ip }: FastifyRequest): string {
  const { carrier, token } = params as Static<typeof Params>
  return `${carrier} ${token} ${networkOf(ip)}`
}

async function receive(
  context: InboundContext,
  kind: InboundKind,
  known: Set<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { receiving, vault } = context
  const { carrier: id, token } = request.params as Static<typeof Params>
  const carrierId = parseId('car', id)
  const carrier = carrierId ? await findCarrier(receiving.db, carrierId) : null
  const caller = callerOf(request)
  // The same for an unknown carrier and a wrong token, so that guessing reveals nothing.
  if (carrier?.kind !== 'http' || !isToken(vault, carrier.id, carrier.settings.url_version, token)) {
    request.isStranger = true
    known.delete(caller)
    throw notFound()
  }
  const { settings } = carrier
  const adapter = adapters[settings.adapter]
  const secrets: Secrets = openSecrets(vault, carrier)
  const inbound = readRequest(request, context.publicUrl)
  const refuse = (status: 400 | 403): FastifyReply => {
    context.refusals.set(carrier.id, (context.refusals.get(carrier.id) ?? 0) + 1)
    return reply.code(status).send()
  }
  try {
    const isFromCarrier = allowNetworks(readNetworks(settings.allowed_cidrs ?? [], '').networks)
    if (!isFromCarrier(request.ip) || !adapter.verify(inbound, settings, secrets)) {
      request.isStranger = true
      return refuse(403)
    }
    known.delete(caller)
    if (known.size >= knownMax) known.delete(known.keys().next().value ?? '')
    known.add(caller)
    const receipts = kind === 'receipts' || adapter.isOneAddress ? adapter.parseReceipt(inbound, settings) : []
    const replies = kind === 'replies' || adapter.isOneAddress ? adapter.parseReply(inbound, settings) : []
    const linkId = await findLinkOf(receiving.db, carrier.id)
    if (linkId === null) throw notFound()
    const unnamed: Buffer[] = []
    for (let at = 0; at < Math.max(receipts.length, replies.length); at += itemsMax)
      await Promise.all([
        ...receipts
          .slice(at, at + itemsMax)
          .map((one) => storeReceipt(receiving, linkId, one, adapter.isByPart === true)),
        ...replies.slice(at, at + itemsMax).map(async (one) => {
          const hash = await storeHttpReply(receiving, linkId, one)
          if (hash) unnamed.push(hash)
        }),
      ])
    // Written whole, unless the carrier has hung up.
    reply.raw.once('finish', () => {
      forgetAnswered(receiving.db, linkId, unnamed).catch((error: unknown) =>
        receiving.log.warn({ carrier: carrier.id, error }, 'an answered reply may be mistaken for a repeat'),
      )
    })
  } catch (error) {
    if (error instanceof FieldsError) return refuse(400)
    throw error
  }
  const answer = kind === 'replies' ? adapter.replyAnswer : undefined
  return answer ? reply.type(answer.contentType).send(answer.body) : reply.send()
}

function readRequest(request: FastifyRequest, publicUrl: string): InRequest {
  const single = Object.entries(request.headers).map(([name, value]) => [name, value?.toString()])
  return {
    method: request.method,
    url: publicUrl.replace(/\/$/, '') + request.url,
    headers: Object.fromEntries(single) as InRequest['headers'],
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    at: now(),
  }
}

const notFound = (): ApiError => new ApiError('not_found')
