/** The programs of docs/webhooks.md, each with the same genuine and forged signatures. Languages that are not installed are skipped. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf, newSecret, sign } from '../server/post/signature.ts'

const guide = readFileSync(join(import.meta.dirname, '../docs/webhooks.md'), 'utf8')

function blockOf(note: string): string {
  const [, content] = new RegExp(`^\`\`\`\\w+ ${note.replace('.', '\\.')}\\n([^]*?)^\`\`\`$`, 'm').exec(guide) ?? []
  if (content === undefined) throw new Error(`docs/webhooks.md has no ${note}`)
  return content
}

const [secret = ''] = /whsec_[A-Za-z0-9+/]{40,}=/.exec(guide) ?? []
const [, id = '', timestamp = ''] = /the id\s+`(evt_\w+)`,\s+the timestamp\s+`(\d+)`/.exec(guide) ?? []
const [, signature = ''] = /The\s+signature\s+is\s+`(v1,[^`]+)`/.exec(guide) ?? []
const body = blockOf('vector').trimEnd()
const now = Number(timestamp)

interface Vector {
  name: string
  isGenuine: boolean
  secret: string
  headers: Record<string, string>
  body: string
  now: number
}

const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
const genuine: Vector = { name: 'the example', isGenuine: true, secret, headers, body, now }
const changed = (name: string, change: Partial<Vector>): Vector => ({ ...genuine, name, isGenuine: false, ...change })
const withHeader = (name: string, value: string): Record<string, string> => ({ ...headers, [name]: value })
const [old, next] = [newSecret(), newSecret()]
const both = sign([keyOf(next), keyOf(old)], id, now, body)
const rotated = { headers: withHeader('webhook-signature', both), isGenuine: true }
const long = `{"text":"${'é👋'.repeat(50_000)}"}`

const vectors: Vector[] = [
  genuine,
  changed('another body', { body: body.replace('delivered', 'Delivered') }),
  changed('a body with a line’s end', { body: `${body}\n` }),
  changed('another secret', { secret: old }),
  changed('another id', { headers: withHeader('webhook-id', 'evt_2') }),
  changed('another time', { headers: withHeader('webhook-timestamp', String(now + 1)) }),
  changed('five minutes later', { now: now + 300, isGenuine: true }),
  changed('more than five minutes later', { now: now + 301 }),
  changed('more than five minutes too early', { now: now - 301 }),
  changed('a time that is none', { headers: withHeader('webhook-timestamp', 'now') }),
  changed('a time in exponential form', { headers: withHeader('webhook-timestamp', `${now / 10}e1`) }),
  changed('no signature', { headers: { 'webhook-id': id, 'webhook-timestamp': timestamp } }),
  changed('an empty signature', { headers: withHeader('webhook-signature', '') }),
  changed('a signature without its version', { headers: withHeader('webhook-signature', signature.slice(3)) }),
  changed('a signature of another version', {
    headers: withHeader('webhook-signature', signature.replace('v1', 'v1a')),
  }),
  changed('a short signature', { headers: withHeader('webhook-signature', signature.slice(0, 10)) }),
  changed('no headers at all', { headers: {} }),
  changed('two signatures, with the new secret', { ...rotated, secret: next }),
  changed('two signatures, with the old secret', { ...rotated, secret: old }),
  changed('two signatures, with a third secret', { ...rotated, isGenuine: false }),
  changed('a long body', {
    isGenuine: true,
    body: long,
    headers: withHeader('webhook-signature', sign([keyOf(secret)], id, now, long)),
  }),
]

/** A language: its file, its command, and a program that verifies each line of JSON. */
interface Language {
  file: string
  command: string[]
  main: string
  mainFile: string
}

const languages: Record<string, Language> = {
  'Node.js': {
    file: 'verify.mjs',
    command: [process.execPath, 'main.mjs'],
    mainFile: 'main.mjs',
    main: `
import { createInterface } from 'node:readline'
import { verify } from './verify.mjs'
for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body, now } = JSON.parse(line)
  console.log(verify(secret, headers, Buffer.from(body, 'base64'), now))
}`,
  },
  Python: {
    file: 'verify.py',
    command: ['python3', 'main.py'],
    mainFile: 'main.py',
    main: `
import base64, json, sys
from verify import verify
for line in sys.stdin:
    v = json.loads(line)
    print(str(verify(v["secret"], v["headers"], base64.b64decode(v["body"]), v["now"])).lower())
`,
  },
  Go: {
    file: 'verify.go',
    command: ['go', 'run', 'verify.go', 'main.go'],
    mainFile: 'main.go',
    main: `
package main

import ("encoding/json"; "fmt"; "net/http"; "os"; "time")

func main() {
	decoder := json.NewDecoder(os.Stdin)
	for decoder.More() {
		var v struct { Secret string; Headers map[string]string; Body []byte; Now int64 }
		if err := decoder.Decode(&v); err != nil { panic(err) }
		header := http.Header{}
		for name, value := range v.Headers { header.Set(name, value) }
		fmt.Println(Verify(v.Secret, header, v.Body, time.Unix(v.Now, 0)))
	}
}`,
  },
  PHP: {
    file: 'verify.php',
    command: ['php', 'main.php'],
    mainFile: 'main.php',
    main: `<?php
require 'verify.php';
while (($line = fgets(STDIN)) !== false) {
    $v = json_decode($line, true);
    echo json_encode(verify($v['secret'], $v['headers'], base64_decode($v['body']), $v['now'])), "\\n";
}`,
  },
  Ruby: {
    file: 'verify.rb',
    command: ['ruby', 'main.rb'],
    mainFile: 'main.rb',
    main: `
require "json"
require_relative "verify"
STDIN.each_line do |line|
  v = JSON.parse(line)
  puts verify(v["secret"], v["headers"], v["body"].unpack1("m"), v["now"])
end`,
  },
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heliogram-guide-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('the guide’s signature is the one we send, and the public library verifies it', () => {
  expect(signature).toBe(sign([keyOf(secret)], id, now, body))
  const verifier = new Webhook(secret)
  expect(verifier.sign(id, new Date(now * 1000), body)).toBe(signature)
})

const isThere = ({ command: [program = ''] }: Language): boolean =>
  spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0

for (const [name, language] of Object.entries(languages)) {
  const isHere = isThere(language)
  const title = `the ${name} of the guide knows a genuine post from any other`
  test.skipIf(!isHere)(isHere ? title : `${title} (${language.command[0] ?? ''} is not on this machine)`, async () => {
    const [program = '', ...args] = language.command
    await writeFile(join(folder, language.file), blockOf(language.file))
    await writeFile(join(folder, language.mainFile), language.main)
    const child = spawn(program, args, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] })
    for (const { name: _name, isGenuine: _isGenuine, ...vector } of vectors)
      child.stdin.write(`${JSON.stringify({ ...vector, body: Buffer.from(vector.body).toString('base64') })}\n`)
    child.stdin.end()
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
    const told = output.trim().split('\n')
    expect(Object.fromEntries(vectors.map((vector, i) => [vector.name, told[i]]))).toEqual(
      Object.fromEntries(vectors.map((vector) => [vector.name, String(vector.isGenuine)])),
    )
  })
}
