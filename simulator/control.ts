import { ESME } from '@heliogram/smpp'
import { type Faults, INSTEAD } from './faults.ts'
import { hasFate } from './fates.ts'
import { LATENCIES, parseLatency } from './latency.ts'
import { MISCHIEF, type Mischief } from './mischief.ts'

/** `POST /control`: resets all faults, sets these, then does the mischief. */
export interface Control {
  readonly isReset: boolean
  readonly faults: Partial<Faults>
  readonly deed: Mischief | null
}

type Rule = { allowed: string; isAllowed: (value: unknown) => boolean }

const isBoolean: Rule = { allowed: 'true or false', isAllowed: (value) => typeof value === 'boolean' }

function oneOf(...words: string[]): Rule {
  return { allowed: words.join(', '), isAllowed: (value) => words.some((word) => word === value) }
}

/** One of these words, or a command_status other than ROK, by name or as `0x0400`. */
function oneOfOrStatus(...words: string[]): Rule {
  const isStatus = (text: string): boolean =>
    (text !== 'ROK' && Object.hasOwn(ESME, text)) || /^0x0{0,7}[1-9a-f][0-9a-f]{0,7}$/.test(text)
  return textThat(
    `${words.join(', ')} or a status such as RSYSERR or 0x0400`,
    (text) => words.includes(text) || isStatus(text),
  )
}

function textThat(allowed: string, isAllowed: (text: string) => boolean): Rule {
  return { allowed, isAllowed: (value) => typeof value === 'string' && isAllowed(value) }
}

function numberFrom(min: number, max: number, isWhole = true): Rule {
  const isAllowed = (value: unknown): boolean =>
    typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value))
  return { allowed: `${min} to ${max}`, isAllowed }
}

const isTimes = numberFrom(0, 1_000_000)
const isLatency = textThat(LATENCIES, (text) => parseLatency(text) !== null)

const RULES: Readonly<Record<keyof Faults, Rule>> = {
  connect: oneOf('accept', 'drop', 'half_open'),
  bind: oneOfOrStatus('accept', 'deliver_first', 'silent', 'nack', 'drop'),
  bindTimes: isTimes,
  sessionsMax: isTimes,
  enquire: oneOf('answer', 'silent', 'echo'),
  unbind: oneOf('answer', 'silent'),
  octetsPerSecond: numberFrom(0, 1_000_000, false),
  submit: oneOfOrStatus('accept', ...INSTEAD, ...INSTEAD.map((instead) => `${instead}_taken`)),
  submitTimes: isTimes,
  throttleRatio: numberFrom(0, 1, false),
  submitsPerSecondMax: isTimes,
  throttleStatus: oneOf('RTHROTTLED', 'RMSGQFUL'),
  isPaused: isBoolean,
  fate: textThat('a well-known recipient such as 0030, or empty', (text) => text === '' || hasFate(text)),
  ids: oneOf('decimal', 'hex', 'hex_decimal', 'decimal_hex'),
  responseLatency: isLatency,
  receiptLatency: isLatency,
  replyLatency: isLatency,
  deliver: oneOf('accept', 'deaf', 'drop'),
  deliverTimes: isTimes,
  isHoldingReceipts: isBoolean,
  partOrder: oneOf('in_order', 'last_first', 'shuffled'),
  partCopies: numberFrom(1, 10),
}

/** Returns a sentence if the body is invalid. */
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
    isReset: reset === true,
    faults,
    deed: (deed as Mischief | undefined) ?? null,
  }
}
