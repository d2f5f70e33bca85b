/** The manual: serves docs/ from the running server, without internet access. */
import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../ground/http/http.ts'
import { renderManualPage, titleOf, type ManualPage } from './manual-page.ts'
import { escapeHtml, sendPage } from './welcome.ts'

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

/** In the order of their list. */
const apiPages = [...read('docs/api/README.md').matchAll(/^- \[.+\]\((.+)\.md\)/gm)].map(([, name]) => `api/${name}`)

/** By part. A name is the file below docs/ without its extension. */
const parts = [
  {
    title: 'Guides',
    names: [
      'getting-started',
      'console',
      'cli',
      'mcp',
      'webhooks',
      'migrating-from-twilio',
      'privacy',
      'carriers',
      'deploying',
      'operating',
      'settings',
      'runbooks',
    ],
  },
  { title: 'The API', names: ['api/README', ...apiPages] },
  { title: 'Background', names: ['glossary', 'scale', 'benchmarks'] },
]
const names = parts.flatMap((part) => part.names)

const at = (name: string): string => `/docs/${name.replace(/\/README$/, '')}`

/** Rendered on first use: all pages would add 0.2 s to every start. */
interface ListedPage {
  title: string
  render: () => ManualPage
}

/** By address. Throws at the start if a file is missing. */
export const manual: ReadonlyMap<string, ListedPage> = new Map(
  names.map((name) => {
    const markdown = read(`docs/${name}.md`)
    return [
      at(name),
      { title: titleOf(markdown), render: once(() => renderManualPage(`${name}.md`, markdown, addressOf)) },
    ]
  }),
)

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Null if the file is not served. */
function addressOf(file: string): string | null {
  const name = /^docs\/(.+)\.md$/.exec(file)?.[1] ?? ''
  return names.includes(name) ? at(name) : null
}

/** The reference and the errors register their own pages. */
export function manualRoutes(app: App): void {
  const options = { config: { scope: null }, schema: { hide: true } }
  const style = read('server/program/site/manual.css')
  app.get('/docs/manual.css', options, (_request, reply) =>
    reply.header('cache-control', 'max-age=3600').type('text/css; charset=utf-8').send(style),
  )
  const serve = (address: string, title: string, content: () => string): void => {
    const html = once(
      () =>
        `<a class="skip" href="#page">Skip to the page</a>\n<div class="manual">\n${renderParts(address)}\n<article id="page">\n${content()}</article>\n</div>`,
    )
    app.get(address, options, (_request, reply) =>
      sendPage(reply, `${title} · Heliogram`, html(), ['/docs/manual.css']),
    )
  }
  serve('/docs', 'Manual', renderContents)
  const addresses = [...manual.keys()]
  for (const [i, [address, page]] of [...manual].entries())
    serve(address, page.title, () => `${page.render().html}${renderNeighbours(addresses[i - 1], addresses[i + 1])}`)
}

/** Whether a browser asks for a page of the manual: it prefers HTML to JSON. */
export function wantsPage({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
  const [html, json] = [accept.indexOf('text/html'), accept.search(/\bjson\b/)]
  return method === 'GET' && /^\/docs[/?]/.test(url) && html >= 0 && (json < 0 || html < json)
}

export function sendMissingPage(reply: FastifyReply): FastifyReply {
  const content =
    '<h1>Page not found</h1><p class="lead">Perhaps it has moved: the <a href="/docs">manual</a> lists all pages.</p>\n<p>Error codes are explained under <a href="/docs/errors">errors</a>.</p>'
  return sendPage(reply.code(404), 'Page not found · Heliogram', content)
}

/** Navigation: all pages, and the sections of the open one. */
function renderParts(open: string): string {
  const item = (name: string): string => {
    const address = at(name)
    const page = manual.get(address)
    if (!page) return ''
    const isOpen = address === open
    const sections = isOpen ? page.render().sections : []
    const items = sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`)
    const below = items.length > 0 ? `<ul>${items.join('')}</ul>` : ''
    return `<li><a href="${address}"${isOpen ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>${below}</li>`
  }
  const lists = parts.map(({ title, names }) => `<h2>${title}</h2><ul>${names.map(item).join('')}</ul>`)
  return `<nav aria-label="Manual"><p><a href="/">Heliogram</a> · <a href="/docs">Manual</a></p>${lists.join('')}
<h2>Reference</h2><ul><li><a href="/docs/reference">Every route, to try</a></li><li><a href="/docs/errors">Errors</a></li><li><a href="/v1/openapi.json">OpenAPI 3.1</a></li></ul></nav>`
}

function renderContents(): string {
  const card = (address: string, title: string, sentence: string): string =>
    `<li><a href="${address}">${title}</a><span>${sentence}</span></li>`
  return `<h1>Manual</h1><p class="lead">Everything here comes from this server: it needs no network.</p>
<ul class="cards">
${card('/docs/getting-started', 'Getting started', 'A message to a phone, its receipt and a reply, in two minutes')}
${card('/docs/api', 'The API', 'A page a resource; every command on them is run by a test')}
${card('/docs/reference', 'Reference', 'Every field of every route, to read and to try')}
${card('/docs/errors', 'Errors', 'Every code, what it means, what to do')}
${card('/docs/carriers', 'Carriers', 'Links to real networks, and what their codes mean')}
${card('/docs/deploying', 'Deploying', 'From a bare machine to production: systemd, containers, TLS')}
${card('/docs/runbooks', 'Run-books', 'Health, alerts, incidents, backup, upgrades and keys')}
</ul>`
}

function renderNeighbours(before: string | undefined, after: string | undefined): string {
  const link = (address: string | undefined, rel: string, arrow: string): string => {
    const page = address === undefined ? undefined : manual.get(address)
    return page
      ? `<a rel="${rel}" href="${address}">${arrow.replace('·', escapeHtml(page.title))}</a>`
      : '<span></span>'
  }
  return `<p class="neighbours">${link(before, 'prev', '← ·')}${link(after, 'next', '· →')}</p>`
}
