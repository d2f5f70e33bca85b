import type { Needs } from '../events/events.ts'
import { Type } from 'typebox'
import { Nullable, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { requireMessage } from '../message/store.ts'
import { isBot } from './bots.ts'
import type { ShortLinks } from './clicks.ts'
import { readCode } from './shorten.ts'
import { listShortLinks } from './store.ts'

const Count = Type.Integer({ minimum: 0 })

const MessageLinks = Type.Object({
  data: Type.Array(
    Type.Object({
      object: Type.Literal('short_link'),
      url: Nullable(Type.String({ description: 'The target address; null without the scope messages:read_body.' })),
      short_url: Nullable(Type.String({ description: 'As in the text.' })),
      clicks: Type.Integer({ minimum: 0, description: 'Clicks by people, as far as programs can be recognized.' }),
      bot_clicks: Count,
      first_clicked_at: Nullable(Timestamp('When a person first clicked.')),
      last_clicked_at: Nullable(Timestamp('When a person last clicked.')),
    }),
    { description: 'In the order of the text.' },
  ),
})

const page = (title: string, text: string): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<p>${text}</p>
`
const notFound = page('Not found', 'There is nothing here. The link may have expired, or may be incomplete.')

/** Registers `GET /l/{code}`, if short links are on, and `GET /v1/messages/{id}/links`. */
export function shortLinkRoutes(
  app: App,
  { db, shortUrl = null, shortLinks }: Needs<'db' | 'shortUrl'> & { shortLinks: ShortLinks },
): void {
  if (shortUrl !== null)
    app.get('/l/*', { schema: { hide: true }, config: { scope: null } }, async (request, reply) => {
      reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex')
      const code = readCode((request.params as { '*': string })['*'])
      const url = code && (await shortLinks.find(code))
      if (!code || !url)
        return reply
          .code(404)
          .type('text/html; charset=utf-8')
          .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
          .send(notFound)
      if (request.method === 'GET') shortLinks.count(code, isBot(request.headers) ? 'bot' : 'person')
      // ASCII, as a browser writes it.
      return reply.code(302).header('location', new URL(url).href).send()
    })

  app.get(
    '/v1/messages/:id/links',
    {
      schema: {
        operationId: 'listMessageLinks',
        summary: 'List short links of a message',
        tags: ['Messages'],
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) }),
        response: { 200: MessageLinks, ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async ({ caller, params }) => {
      const row = await requireMessage(db, caller.accountId, params.id)
      const links = await listShortLinks(db, caller.accountId, row.id)
      const hasBody = caller.scopes.has('messages:read_body')
      return {
        data: links.map((link) => ({
          object: 'short_link' as const,
          url: hasBody ? link.url : null,
          short_url: hasBody && shortUrl !== null ? `${shortUrl}/${link.code}` : null,
          clicks: link.clicks,
          bot_clicks: link.botClicks,
          first_clicked_at: showTime(link.firstClickedAt),
          last_clicked_at: showTime(link.lastClickedAt),
        })),
      }
    },
  )
}

/**
 * If the short address has no path, its host serves short links only, neither API nor pages. Null if the address ends in /l, on the host of
 * the API.
 */
export function readShortHost(
  shortUrl: string | null | undefined,
): ((request: { url?: string | undefined; headers: { host?: string | undefined } }) => string) | null {
  if (!shortUrl) return null
  const { protocol, host, hostname, port, pathname } = new URL(shortUrl)
  if (pathname !== '/') return null
  // Some proxies include the default port.
  const hosts = new Set([host, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`])
  return ({ url = '/', headers }) => (hosts.has(headers.host?.toLowerCase() ?? '') ? `/l${url}` : url)
}
