import { routes, type OperationName } from '@heliogram/sdk'
import { misused } from '../exit.ts'
import { nearest } from '../input/nearest.ts'

/** An operation with the parameters of its path. */
export interface Found {
  name: OperationName
  method: string
  path: Record<string, string>
  query: Record<string, string>
}

/** By operation name, or by method and path with query. @throws Failure if there is none */
export function findOperation(word: string, path: string | undefined): Found {
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
