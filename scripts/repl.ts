/**
 * A prompt with the running system at hand: npm run repl
 *
 *   await sql`select status, count(*) from messages group by 1`   rows; values in ${} become parameters
 *   await db.query('select 1')                                    the pool itself
 *   await sdk.call('listMessages', { query: { limit: 1 } })       as the account of the key in KEY
 *   await sdk.call('sendMessage', { body: { to: '15551230001', message: 'Hi' } })
 *   await sdk.call('deleteWebhook', { path: { id: 'whk_…' } })
 *   await simulator('/phones/15551230001/messages')               what arrived on a phone
 *   await simulator('/phones/15551230001/replies', { text: 'STOP' })
 */
import { start } from 'node:repl'
import { createClient } from '@heliogram/sdk'
import { readOptions } from './options.ts'
import { reachDatabase } from './reach.ts'

const usage = `db, sql\`…\`, sdk.call(operation, request) and simulator(path, body?) are loaded.
The SDK sends the API key of the environment variable KEY; or say key('hg_live_…') here.`
readOptions(`npm run repl: a prompt with the running system at hand.\n${usage}`, {})

let apiKey = process.env['KEY'] ?? ''
const { db, config, where, close } = await reachDatabase('repl')

async function sql(pieces: TemplateStringsArray, ...values: unknown[]): Promise<unknown[]> {
  const text = pieces.reduce((before, piece, i) => `${before}$${i}${piece}`)
  const { rows } = await db.query(text, values)
  return rows
}

const sdk = createClient({ baseUrl: config.publicUrl, token: () => apiKey })
const key = (secret: string): void => {
  apiKey = secret
}

const phones = `http://127.0.0.1:${config.simulatorHttpPort}`

async function simulator(path: string, body?: unknown): Promise<unknown> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const url = new URL(path, phones)
  return (await fetch(url, body === undefined ? {} : post)).json()
}

console.log(`Database: ${where}\nAPI: ${config.publicUrl}   phones: ${phones}\n${usage}\n`)
const prompt = start({ prompt: 'heliogram> ' })
Object.assign(prompt.context, { db, sql, sdk, simulator, key })
prompt.once('exit', () => void close())
