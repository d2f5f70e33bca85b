/** Writes docs/openapi.json from the routes; with --check, fails if the committed one differs. Needs no database. */
import { readFileSync, writeFileSync } from 'node:fs'
import { buildApp } from '../server/program/app.ts'
import { registerRoutes, type RoutesContext } from '../server/program/rooms.ts'
import { readOptions } from './options.ts'

const usage = `npm run openapi [-- --check]
Writes docs/openapi.json from the routes; with --check, fails where the committed one differs.`
const { check: isCheck } = readOptions(usage, { check: { type: 'boolean', default: false } })

const file = new URL('../docs/openapi.json', import.meta.url)

// Routes are registered and described here, never called.
const absent = { version: 'v1' } as unknown as RoutesContext
const app = await buildApp(
  { version: 'v1', publicUrl: 'http://localhost', authenticator: absent.authenticator },
  (app) => registerRoutes(app, absent),
)
const text = `${JSON.stringify(app.swagger(), null, 2)}\n`
await app.close()

if (!isCheck) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error('docs/openapi.json is not what the routes say. Run: npm run openapi')
  process.exitCode = 1
}
