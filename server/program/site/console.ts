/** The console: the files that `scripts/setup.cjs` built from `console/`, and one page for all addresses below `/console`. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../ground/base/errors.ts'
import type { App } from '../../ground/http/http.ts'
import { sendPage } from './welcome.ts'

const built = join(import.meta.dirname, '../../../console/dist')
/** Read once: each test of routes builds an application. */
let files: Map<string, Buffer> | undefined

// Only our own files: nothing inline, nothing external, no text interpreted as markup.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

export function consoleRoutes(app: App): void {
  const options = { config: { scope: null }, schema: { hide: true } }
  const all = (files ??= readFiles(built))
  const page = all.get('index.html')
  const send = (reply: FastifyReply): FastifyReply =>
    page === undefined
      ? sendPage(reply.code(503), 'Console · Heliogram', missing)
      : reply
          .header('content-security-policy', policy)
          .header('cache-control', 'no-cache')
          .type('text/html; charset=utf-8')
          .send(page)
  app.get('/console', options, (_request, reply) => reply.redirect('/console/', 301))
  app.get<{ Params: { '*': string } }>('/console/*', options, (request, reply) => {
    const name = request.params['*']
    const file = all.get(name)
    // An outdated page would get the current page as its script.
    if (file === undefined && name.startsWith('assets/'))
      throw new ApiError('not_found', { detail: 'The console has no such file.' })
    if (file === undefined || name === 'index.html') return send(reply)
    // Vite's file names change with their content.
    const lasts = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'max-age=3600'
    reply.headers({ 'cache-control': lasts, vary: 'accept-encoding' })
    reply.type(types[extname(name)] ?? 'application/octet-stream')
    const packed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') ? all.get(`${name}.gz`) : undefined
    return packed === undefined ? reply.send(file) : reply.header('content-encoding', 'gzip').send(packed)
  })
}

const missing =
  '<h1>The console is not built</h1>\n<p class="lead"><code>npm start</code> builds it in a few seconds, and so does <code>npm run console</code> if you start the service in another way. Then restart.</p>'

/** By path relative to the folder; empty if there is none. */
function readFiles(folder: string): Map<string, Buffer> {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return new Map()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [relative(folder, path).split(sep).join('/'), readFileSync(path)]
    }),
  )
}
