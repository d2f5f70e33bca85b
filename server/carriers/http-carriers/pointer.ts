/** JSON pointers (RFC 6901) into what a carrier sent. */
import { at } from './fields.ts'

/** What a pointer looks like (RFC 6901 §3). */
export const pointerPattern = '^(/([^~/]|~[01])*)*$'

/** The value that a pointer names; undefined where there is none. The empty pointer names the whole. */
export function valueAt(value: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1)
  return at(value, ...steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')))
}
