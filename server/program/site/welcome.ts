/** The start page, its style, and the health of this process. */
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../../ground/http/http.ts'

export interface Health {
  isOk: boolean
  /** False: the process works without it, but degraded. */
  isVital?: boolean
  /** Details for people: bound links, seconds of lag, and so on. Never secrets: the response is public. */
  [detail: string]: unknown
}

export interface WelcomeContext {
  version: string
  /** http(s)://host[:port] for clients. */
  publicUrl: string
  /** The simulated phones, if they run here. */
  phonesUrl?: string | null
  /** Checks of this process's roles, by name. A check that throws fails. */
  health?: () => Promise<Record<string, Health>>
}

const style = ['colours.css', 'welcome.css']
  .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
  .join('\n')

// No scripts, and nothing external.
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

export function welcomeRoutes(app: App, context: WelcomeContext): void {
  const config = { scope: null }
  const page = renderStart(context)
  app.get('/', { config, schema: { hide: true } }, (_request, reply) => sendPage(reply, 'Heliogram', page))
  const { phonesUrl } = context
  // The console does not know their port.
  if (phonesUrl) app.get('/phones', { config, schema: { hide: true } }, (_request, reply) => reply.redirect(phonesUrl))
  app.get('/assets/heliogram.css', { config, schema: { hide: true } }, (_request, reply) =>
    reply.header('cache-control', 'max-age=3600').type('text/css; charset=utf-8').send(style),
  )
  app.get(
    '/healthz',
    {
      config,
      schema: {
        operationId: 'getHealth',
        summary: 'Get the health of this process',
        tags: ['Service'],
        response: { 200: HealthAnswer, 503: HealthAnswer },
      },
    },
    async (_request, reply) => {
      const checks = await readHealth(context)
      const failing = Object.values(checks).filter((check) => !check.isOk)
      const status =
        failing.length === 0 ? 'ok' : failing.every((check) => check.isVital === false) ? 'degraded' : 'failing'
      reply.code(status === 'failing' ? 503 : 200).header('cache-control', 'no-store')
      const shown = Object.entries(checks).map(([name, { isOk, isVital = true, ...detail }]) => [
        name,
        { ok: isOk, vital: isVital, ...detail },
      ])
      return reply.send({
        status,
        version: context.version,
        checks: Object.fromEntries(shown),
      })
    },
  )
}

/** `content` is trusted HTML; `styles` are addresses of additional style sheets. */
export function sendPage(reply: FastifyReply, title: string, content: string, styles: string[] = []): FastifyReply {
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${['/assets/heliogram.css', ...styles].map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`)
}

/** Safe between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const HealthAnswer = Type.Object({
  status: Type.Enum(['ok', 'degraded', 'failing', 'starting']),
  version: Type.String(),
  checks: Type.Record(
    Type.String(),
    Type.Object({ ok: Type.Boolean(), vital: Type.Boolean() }, { additionalProperties: true }),
  ),
})

async function readHealth(context: WelcomeContext): Promise<Record<string, Health>> {
  try {
    return (await context.health?.()) ?? {}
  } catch (error) {
    // The response is public: the error's name, without details.
    return { process: { isOk: false, reason: error instanceof Error ? error.name : 'unknown' } }
  }
}

const renderStart = ({ version, publicUrl, phonesUrl }: WelcomeContext): string => `<h1>Heliogram</h1>
<p class="lead">Text messages over your own carrier links.</p>
<p>This is an installation of Heliogram ${escapeHtml(version)}. It takes messages by HTTP, hands them to carriers over SMPP,
and tells your server what became of them.</p>
<ul class="cards">
<li><a href="/console/">Console</a><span>Messages, campaigns and carriers, to watch and to work with</span></li>
<li><a href="/docs">Manual</a><span>Getting started, guides, the API page by page</span></li>
<li><a href="/docs/reference">API reference</a><span>Every request and answer, to read and to try</span></li>
${phonesUrl ? `<li><a href="${escapeHtml(phonesUrl)}">Phones</a><span>Simulated handsets: see what arrived, and reply</span></li>` : ''}
<li><a href="/healthz">Health</a><span>What this process needs, and whether it has it</span></li>
<li><a href="/v1/openapi.json">OpenAPI 3.1</a><span>The same reference for machines</span></li>
<li><a href="/docs/errors">Errors</a><span>Every code, what it means, what to do</span></li>
</ul>
<h2>Send a message</h2>
<pre tabindex="0">curl ${escapeHtml(publicUrl)}/v1/messages/send \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"to":"12025550123","message":"Hello from Heliogram"}'</pre>
<p><code>$KEY</code> is the key that the first start printed; further keys are made with <code>POST /v1/api-keys</code>.
Beside it is a code that makes you the owner, with a login: <code>heliogram owner-code</code> and each start print another until it is used.</p>`
