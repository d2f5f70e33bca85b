/** Checks responses against the OpenAPI document: status, content type, and the whole body. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { errorKinds, fieldErrors } from '../server/ground/base/errors.ts'
import { readOperations, type Document, type FuzzRequest, type Operation } from './openapi-requests.ts'
import type { RawAnswer } from './wire.ts'

/** Statuses of HTTP itself before routing: for invalid headers, methods, paths and bodies. */
const beforeRoutes = new Set([400, 404, 405, 408, 417, 431])

interface Problem {
  status: number
  code: string
  request_id: string
  errors?: { code: string }[]
}

export class AnswerCheck {
  readonly #ajv: Ajv2020
  readonly #operations: { operation: Operation; path: RegExp }[]
  readonly #checks = new Map<object, ValidateFunction>()
  readonly #checkProblem: ValidateFunction

  constructor(document: Document) {
    const { paths, components } = close(document) as Document
    const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
    const isTime = (text: string): boolean => date.test(text) && !Number.isNaN(Date.parse(text))
    this.#ajv = new Ajv2020({
      strict: false,
      allErrors: false,
      formats: { 'date-time': isTime, ipv4: true, ipv6: true },
    })
    this.#ajv.addSchema({ $id: 'document', components })
    this.#checkProblem = this.#ajv.compile({ $ref: 'document#/components/schemas/Problem' })
    this.#operations = readOperations({ paths, components })
      .map((operation) => ({ operation, path: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]*')}$`) }))
      // Literal paths come before parameters, as in the router.
      .sort((a, b) => a.operation.path.split('{').length - b.operation.path.split('{').length)
  }

  /** The operation of a request, if any; HEAD is GET without a body. */
  operationOf({ method, target }: Pick<FuzzRequest, 'method' | 'target'>): Operation | null {
    const asked = method === 'HEAD' ? 'GET' : method
    const path = target.replace(/[?#].*/s, '')
    return this.#operations.find((one) => one.operation.method === asked && one.path.test(path))?.operation ?? null
  }

  faultOf(operation: Operation | null, answer: RawAnswer, hasBody: boolean): string | null {
    const { status, headers, body } = answer
    if (status === 0 || status >= 500) return `${status}`
    const documented = operation?.responses[String(status)]
    if (!documented && !beforeRoutes.has(status)) return `${status} is not documented`
    if (!hasBody) return null
    const type = headers.get('content-type') ?? ''
    const described = Object.entries(documented?.content ?? {})
    // OAuth has its own format of errors (RFC 6749 §5.2).
    const isOwnForm = described.some(([name]) => name === 'application/json')
    if (status >= 400 && !isOwnForm) return this.#faultOfProblem(answer, type)
    if (described.length === 0 || body.length === 0) return null
    const [, { schema } = {}] = described.find(([name]) => type.startsWith(name)) ?? []
    if (!schema) return `${status} has the content type ${type}, not ${described.map(([name]) => name).join(' or ')}`
    if (!type.startsWith('application/json')) return null
    const check = this.#checkOf(schema)
    return check(JSON.parse(body.toString()))
      ? null
      : `${status} is not as described: ${this.#ajv.errorsText(check.errors)} ${JSON.stringify(check.errors?.[0]?.params)}`
  }

  #faultOfProblem({ status, headers, body }: RawAnswer, type: string): string | null {
    if (!type.startsWith('application/problem+json')) return `${status} has the content type ${type}`
    const problem = JSON.parse(body.toString()) as Problem
    if (!this.#checkProblem(problem)) return `${status}: ${this.#ajv.errorsText(this.#checkProblem.errors)}`
    if (problem.status !== status) return `${status} says ${problem.status}`
    if (!Object.hasOwn(errorKinds, problem.code)) return `${status} has an unknown code ${problem.code}`
    if (problem.request_id !== headers.get('x-request-id')) return `${status} has two request ids`
    const unknown = problem.errors?.find(({ code }) => !Object.hasOwn(fieldErrors, code))
    return unknown ? `${status} has an unknown field code ${unknown.code}` : null
  }

  #checkOf(schema: object): ValidateFunction {
    let check = this.#checks.get(schema)
    if (!check) this.#checks.set(schema, (check = this.#ajv.compile(schema)))
    return check
  }
}

/** A copy with absolute references, in which objects without `additionalProperties` allow none. */
export function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, close(item)]))
  if (typeof copy['$ref'] === 'string') copy['$ref'] = `document${copy['$ref']}`
  const isOpen = copy['type'] === 'object' && copy['properties'] && copy['additionalProperties'] === undefined
  return isOpen && !copy['anyOf'] && !copy['allOf'] ? { ...copy, additionalProperties: false } : copy
}
