/** One call of the API in the languages of programs. The key comes from the environment. */

export interface Call {
  baseUrl: string
  /** In the OpenAPI document. */
  operation: string
  path: string
  body: object
}

export function curlOf({ baseUrl, path, body }: Call): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)
  return `curl ${baseUrl}${path} \\
  -H "Authorization: Bearer $HELIOGRAM_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${json}'`
}

export const nodeOf = ({ baseUrl, operation, body }: Call): string => `import { env } from 'node:process'
import { createClient } from '@heliogram/sdk'

const heliogram = createClient({ baseUrl: '${baseUrl}', token: env.HELIOGRAM_API_KEY })

const answer = await heliogram.call('${operation}', {
  body: ${indent(unquoteNames(JSON.stringify(body, null, 2)))},
})`

export const pythonOf = ({ baseUrl, path, body }: Call): string => `import os
import requests

response = requests.post(
    "${baseUrl}${path}",
    headers={"Authorization": f"Bearer {os.environ['HELIOGRAM_API_KEY']}"},
    json=${pythonValue(body, 1)},
)
response.raise_for_status()`

const indent = (text: string): string => text.replaceAll('\n', '\n  ')

/** JSON's names that JavaScript takes without quotes. */
const unquoteNames = (json: string): string => json.replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:')

function pythonValue(value: unknown, depth: number): string {
  const margin = '    '.repeat(depth)
  const lines = (items: string[], open: string, close: string): string =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => `${margin}    ${item},\n`).join('')}${margin}${close}`
  if (Array.isArray(value))
    return lines(
      value.map((item) => pythonValue(item, depth + 1)),
      '[',
      ']',
    )
  if (typeof value === 'object' && value !== null)
    return lines(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => `${JSON.stringify(name)}: ${pythonValue(item, depth + 1)}`),
      '{',
      '}',
    )
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null || value === undefined ? 'None' : JSON.stringify(value)
}
