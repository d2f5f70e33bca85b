/** JSON pointers (RFC 6901) into requests and answers of carriers. */
import { at } from './fields.ts'

export const pointerPattern = '^(/([^~/]|~[01])*)*$'

/** The value at a pointer; undefined if absent. The empty pointer is the whole document. */
export function valueAt(value: unknown, pointer: string): unknown {
  return at(value, ...stepsOf(pointer))
}

/** The form field of a pointer; '', which is no field, unless it has one step. */
export function nameOf(pointer: string): string {
  const [name = '', ...others] = stepsOf(pointer)
  return others.length > 0 ? '' : name
}

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
