/**
 * A prompt with the running system at hand: npm run repl
 *
 *   await sql`select status, count(*) from messages group by 1`   rows; values in ${} become parameters
 *   await db.query('select 1')                                    the pool itself
 *   await api('/v1/messages?limit=1')                             GET, as the account of the key in KEY
 *   await api('/v1/messages/send', { to: '15551230001', message: 'Hi' })    POST
 *   await api('/v1/webhooks/whk_…', null, 'DELETE')
 *   await simulator('/phones/15551230001/messages')               what arrived on a phone
 *   await simulator('/phones/15551230001/replies', { text: 'STOP' })
 */
import { start } from 'node:repl'
import { readOptions } from './options.ts'
import { reachDatabase } from './reach.ts'

const usage = `db, sql\`…\`, api(path, body?, method?) and simulator(path, body?) are loaded.
api sends the API key of the environment variable KEY; or say key('hg_live_…') here.`
readOptions(`npm run repl: a prompt with the running system at hand.\n${usage}`, {})

let apiKey = process.env['KEY'] ?? ''
const { db, config, where, close } = await reachDatabase('repl')

/** Runs a statement; values between the pieces are parameters, never text. */
async function sql(pieces: TemplateStringsArray, ...values: unknown[]): Promise<unknown[]> {
  const text = pieces.reduce((before, piece, i) => `${before}$${i}${piece}`)
  const { rows } = await db.query(text, values)
  return rows
}

async function request(base: string, path: string, body: unknown, method: string, key: string): Promise<unknown> {
  const response = await fetch(new URL(path, base), {
    method,
    headers: {
      ...(key !== '' && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && body !== null && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && body !== null && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) console.log(response.status, response.statusText)
  return /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text
}

const api = (path: string, body?: unknown, method: string = body === undefined ? 'GET' : 'POST'): Promise<unknown> =>
  request(config.publicUrl, path, body, method, apiKey)
const simulator = (path: string, body?: unknown): Promise<unknown> =>
  request(`http://127.0.0.1:${config.simulatorHttpPort}`, path, body, body === undefined ? 'GET' : 'POST', '')
const key = (secret: string): void => {
  apiKey = secret
}

console.log(`Database: ${where}\n${usage}\n`)
const prompt = start({ prompt: 'heliogram> ' })
Object.assign(prompt.context, { db, sql, api, simulator, key })
prompt.once('exit', () => void close())
