/** JSON pointers (RFC 6901) into what a carrier sent. */
import { at } from './fields.ts'

/** What a pointer looks like (RFC 6901 §3). */
export const pointerPattern = '^(/([^~/]|~[01])*)*$'

/** The value that a pointer names; undefined where there is none. The empty pointer names the whole. */
export function valueAt(value: unknown, pointer: string): unknown {
  return at(value, ...stepsOf(pointer))
}

/** The field of a form that a pointer names; of one with other than one step '', which is no field. */
export function nameOf(pointer: string): string {
  const [name = '', ...others] = stepsOf(pointer)
  return others.length > 0 ? '' : name
}

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
