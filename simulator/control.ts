import { ESME } from '@heliogram/smpp'
import { MISCHIEF, type Mischief } from './mischief.ts'
import { FAULTLESS, type Faults } from './options.ts'

/** What `POST /control` asks for. */
export interface Control {
  readonly faults: Partial<Faults>
  readonly deeds: Mischief | null
}

type Rule = { allowed: string; isAllowed: (value: unknown) => boolean }

const isBoolean: Rule = { allowed: 'true or false', isAllowed: (value) => typeof value === 'boolean' }

function oneOf(words: readonly string[], more = ''): Rule {
  const isAllowed = (value: unknown): boolean =>
    typeof value === 'string' &&
    (words.includes(value) || (more !== '' && value !== 'ROK' && Object.hasOwn(ESME, value)))
  return { allowed: `${words.join(', ')}${more}`, isAllowed }
}

function numberFrom(min: number, max: number): Rule {
  const isAllowed = (value: unknown): boolean => typeof value === 'number' && value >= min && value <= max
  return { allowed: `${min} to ${max}`, isAllowed }
}

const OR_STATUS = ' or a status such as RSYSERR'

const RULES: Readonly<Record<keyof Faults, Rule>> = {
  bind: oneOf(['accept', 'silent', 'nack'], OR_STATUS),
  submit: oneOf(['accept', 'silent', 'nack', 'nack_null', 'drop', 'unbind'], OR_STATUS),
  throttleRatio: numberFrom(0, 1),
  submitsPerSecondMax: numberFrom(0, 1_000_000),
  isPaused: isBoolean,
  isHoldingReceipts: isBoolean,
  partOrder: oneOf(['in_order', 'last_first']),
}

/** Reads the body of `POST /control`; a sentence where it asks for what there is not. `{"reset": true}` is all faults off. */
export function readControl(body: Readonly<Record<string, unknown>>): Control | string {
  const { do: deed, reset, ...faults } = body
  if (deed !== undefined && !(typeof deed === 'string' && Object.hasOwn(MISCHIEF, deed))) {
    return `"do" must be one of ${Object.keys(MISCHIEF).join(', ')}.`
  }
  for (const [name, value] of Object.entries(faults)) {
    if (!Object.hasOwn(RULES, name)) return `There is no "${name}": use ${Object.keys(RULES).join(', ')}, do or reset.`
    const rule = RULES[name as keyof Faults]
    if (!rule.isAllowed(value)) return `"${name}" must be ${rule.allowed}.`
  }
  return {
    faults: { ...(reset === true ? FAULTLESS : {}), ...(faults as Partial<Faults>) },
    deeds: (deed as Mischief | undefined) ?? null,
  }
}
