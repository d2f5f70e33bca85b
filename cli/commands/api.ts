/** `heliogram api`: any operation, by name or route. */
import { routes, type Client, type OperationName, type Page } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { misused } from '../exit.ts'
import { placeFields, readBody, readField, readTyped, type Field } from '../input/fields.ts'
import { readPair } from '../input/pairs.ts'
import { isWatched, say, write } from '../terminal/output.ts'
import { sayTable } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { nearest } from '../input/nearest.ts'

interface ApiOptions {
  field?: Field[]
  rawField?: Field[]
  input?: string
  paginate?: true
  header?: Record<string, string>
  idempotencyKey?: string
  list?: true
}

export function build(cli: Cli): Command {
  return new Command('api')
    .argument('[operation]', 'name of an operation (sendMessage), or a method')
    .argument('[path]', 'with a method: the path, such as /v1/messages?status=failed')
    .description('Call any operation of the API. Without arguments, or with --list: list all operations.')
    .option('-f, --raw-field <name=value>', 'a field as text, in the path, the query, or the body', readField)
    .option(
      '-F, --field <name=value>',
      'the same, but true, false, null, numbers and JSON keep their type, and @file is the content of a file',
      readTyped,
    )
    .option('--input <file>', 'the body; "-" reads standard input')
    .option('-H, --header <name=value>', 'a header', readPair)
    .option('--paginate', 'all pages of a list, one object a line')
    .option('--idempotency-key <key>', 'a second call with the same key does nothing')
    .option('--list', 'list every operation')
    .addHelpText(
      'after',
      `
Names with brackets are members of objects and lists: -f metadata[order]=77 -f tags[]=vip

Examples:
  heliogram api getQueue
  heliogram api GET "/v1/messages?status=failed" --paginate
  heliogram api createCampaign -f name="Spring sale" -f key=spring -F pace=20
  heliogram api PATCH /v1/settings --input settings.json`,
    )
    .action(async (word: string | undefined, path: string | undefined, options: ApiOptions) => {
      if (word === undefined || options.list) return sayOperations(cli)
      await callOperation(cli, word, path, options)
    })
}

async function sayOperations(cli: Cli): Promise<void> {
  const all = Object.entries(routes).map(([name, route]) => {
    const [method = '', path = ''] = route.split(' ')
    return { name, method, path }
  })
  if (!cli.isJson)
    return sayTable(all, [
      { title: 'OPERATION', of: ({ name }) => name },
      { title: 'METHOD', of: ({ method }) => method },
      { title: 'PATH', of: ({ path }) => path },
    ])
  for (const one of all) await say(safeJson(one))
}

async function callOperation(cli: Cli, word: string, given: string | undefined, options: ApiOptions): Promise<void> {
  const { name, method, path, query } = findOperation(word, given)
  const fields = placeFields(routes[name], [...(options.rawField ?? []), ...(options.field ?? [])], path)
  const client = await cli.client()
  const { input } = options
  if (input !== undefined && fields.body !== undefined)
    throw misused(
      '--input is the body: put the fields there.',
      'Fields beside it can only be in the path; write those of the query into the path itself.',
    )
  const { body, type } = input === undefined ? { body: fields.body, type: null } : await readBody(input)
  const request = {
    path: fields.path,
    query: { ...query, ...fields.query },
    ...(body !== undefined && { body }),
  }
  const headers = { ...(type !== null && { 'content-type': type }), ...options.header }
  const callOptions = { headers, idempotencyKey: options.idempotencyKey }
  if (options.paginate) {
    if (method !== 'GET') throw misused('--paginate is for lists.')
    return sayPages(client, name, request, callOptions)
  }
  const answer = await (client as AnyClient).open(name, request, {
    ...callOptions,
    headers: { accept: 'application/json, */*;q=0.5', ...headers },
  })
  if (
    !/json/.test(answer.headers.get('content-type') ?? '') ||
    /ndjson/.test(answer.headers.get('content-type') ?? '')
  ) {
    if (answer.body) for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) await write(chunk)
    return
  }
  const text = await answer.text()
  if (text !== '') await say(safeJson(JSON.parse(text), isWatched() && !cli.isJson ? 2 : 0))
}

async function sayPages(client: Client, name: OperationName, request: Request, options: object): Promise<void> {
  let cursor: string | undefined
  for (;;) {
    const query = { ...request.query, ...(cursor !== undefined && { cursor }) }
    const answer = (await (client as AnyClient).call(name, { ...request, query }, options)) as Partial<Page<unknown>>
    if (!Array.isArray(answer.data)) throw misused(`${name} is not a list.`)
    for (const one of answer.data) await say(safeJson(one))
    if (!answer.next_cursor) return
    cursor = answer.next_cursor
  }
}

interface Request {
  path: Record<string, string>
  query: Record<string, string | number | boolean>
  body?: unknown
}

/** The client without types per operation: its name is only known at run time. */
interface AnyClient {
  call(name: OperationName, request: Request, options: object): Promise<unknown>
  open(name: OperationName, request: Request, options: object): Promise<Response>
}

/** An operation with the parameters of its path. */
interface Found {
  name: OperationName
  method: string
  path: Record<string, string>
  query: Record<string, string>
}

/** By operation name, or by method and path with query. @throws Failure if there is none */
function findOperation(word: string, path: string | undefined): Found {
  if (path === undefined) {
    if (word.startsWith('/')) return findRoute('GET', word)
    if (!(word in routes)) {
      const near = nearest(word, Object.keys(routes))
      throw misused(
        `There is no operation "${word}".`,
        near ? `Did you mean ${near}? "heliogram api --list" lists all.` : '"heliogram api --list" lists all.',
      )
    }
    const name = word as OperationName
    return { name, method: routes[name].split(' ')[0] ?? '', path: {}, query: {} }
  }
  return findRoute(word.toUpperCase(), path)
}

function findRoute(method: string, given: string): Found {
  const { pathname, searchParams } = new URL(given.startsWith('/') ? given : `/${given}`, 'http://localhost')
  const steps = pathname.replace(/\/$/, '').split('/')
  // Literal paths come before parameters: in /v1/messages/export, `export` is not an id.
  const found = Object.entries(routes)
    .filter(([, route]) => route.startsWith(`${method} `))
    .map(([name, route]) => ({ name: name as OperationName, template: (route.split(' ')[1] ?? '').split('/') }))
    .filter(
      ({ template }) =>
        template.length === steps.length && template.every((step, i) => step.startsWith('{') || step === steps[i]),
    )
    .sort(
      (a, b) =>
        a.template.filter((step) => step.startsWith('{')).length -
        b.template.filter((step) => step.startsWith('{')).length,
    )[0]
  if (!found) throw misused(`There is no ${method} ${pathname}.`, '"heliogram api --list" lists all operations.')
  const path = found.template.flatMap((step, i) =>
    step.startsWith('{') ? [[step.slice(1, -1), decode(steps[i] ?? '')]] : [],
  )
  return {
    name: found.name,
    method,
    path: Object.fromEntries(path) as Record<string, string>,
    query: Object.fromEntries(searchParams),
  }
}

/** @throws Failure for an invalid escape */
function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    throw misused(`"${step}" in the path has an invalid escape.`, 'Write a literal percent sign as %25.')
  }
}
