/** Checks events against the OpenAPI document, completely. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { close } from './answer-check.ts'
import type { Document } from './openapi-requests.ts'

interface Described extends Document {
  webhooks: Record<string, { post: { requestBody: { content: { 'application/json': { schema: object } } } } }>
}

export class EventCheck {
  readonly types: string[]
  readonly #ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
  readonly #webhooks: Described['webhooks']
  readonly #checks = new Map<string, ValidateFunction>()

  constructor(document: unknown) {
    const { components, webhooks } = close(document) as Described
    this.types = Object.keys(webhooks)
    this.#webhooks = webhooks
    this.#ajv.addSchema({ $id: 'document', components })
  }

  faultOf(event: { type: string }): string | null {
    const { type } = event
    let check = this.#checks.get(type)
    if (!check) {
      const described = this.#webhooks[type]
      if (!described) return `${type} is not in the document`
      check = this.#ajv.compile(described.post.requestBody.content['application/json'].schema)
      this.#checks.set(type, check)
    }
    if (check(event)) return null
    return `${type} is not as described: ${this.#ajv.errorsText(check.errors)} in ${JSON.stringify(event)}`
  }
}
