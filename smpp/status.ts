/**
 * How to handle a refused submit: `retry_link` = pause this link and retry on it, `retry_later` = the carrier is in trouble, retry later or
 * elsewhere, `permanent` = the same PDU will never be accepted.
 */
export type StatusClass = 'ok' | 'retry_link' | 'retry_later' | 'permanent'

type StatusRow = readonly [code: number, statusClass: StatusClass, meaning: string]

/** command_status values. SMPP 3.4 §5.1.3; from 0x100 on SMPP 5.0 §4.7.6. Codes of 0x400 and above belong to carriers. */
export const STATUSES = {
  ROK: [0x00, 'ok', 'no error'],
  RINVMSGLEN: [0x01, 'permanent', 'message length is invalid'],
  RINVCMDLEN: [0x02, 'permanent', 'command length is invalid'],
  RINVCMDID: [0x03, 'permanent', 'invalid command id'],
  RINVBNDSTS: [0x04, 'retry_later', 'incorrect bind status for the command'],
  RALYBND: [0x05, 'retry_later', 'already bound'],
  RINVPRTFLG: [0x06, 'permanent', 'invalid priority flag'],
  RINVREGDLVFLG: [0x07, 'permanent', 'invalid registered delivery flag'],
  RSYSERR: [0x08, 'retry_later', 'system error'],
  RINVSRCADR: [0x0a, 'permanent', 'invalid source address'],
  RINVDSTADR: [0x0b, 'permanent', 'invalid destination address'],
  RINVMSGID: [0x0c, 'permanent', 'message id is invalid'],
  RBINDFAIL: [0x0d, 'retry_later', 'bind failed'],
  RINVPASWD: [0x0e, 'permanent', 'invalid password'],
  RINVSYSID: [0x0f, 'permanent', 'invalid system id'],
  RCANCELFAIL: [0x11, 'permanent', 'cancel failed'],
  RREPLACEFAIL: [0x13, 'permanent', 'replace failed'],
  RMSGQFUL: [0x14, 'retry_link', 'message queue full'],
  RINVSERTYP: [0x15, 'permanent', 'invalid service type'],
  RINVNUMDESTS: [0x33, 'permanent', 'invalid number of destinations'],
  RINVDLNAME: [0x34, 'permanent', 'invalid distribution list name'],
  RINVDESTFLAG: [0x40, 'permanent', 'invalid destination flag'],
  RINVSUBREP: [0x42, 'permanent', 'invalid submit with replace'],
  RINVESMCLASS: [0x43, 'permanent', 'invalid esm_class'],
  RCNTSUBDL: [0x44, 'permanent', 'cannot submit to distribution list'],
  RSUBMITFAIL: [0x45, 'retry_later', 'submit failed'],
  RINVSRCTON: [0x48, 'permanent', 'invalid source type of number'],
  RINVSRCNPI: [0x49, 'permanent', 'invalid source numbering plan'],
  RINVDSTTON: [0x50, 'permanent', 'invalid destination type of number'],
  RINVDSTNPI: [0x51, 'permanent', 'invalid destination numbering plan'],
  RINVSYSTYP: [0x53, 'permanent', 'invalid system type'],
  RINVREPFLAG: [0x54, 'permanent', 'invalid replace_if_present flag'],
  RINVNUMMSGS: [0x55, 'permanent', 'invalid number of messages'],
  RTHROTTLED: [0x58, 'retry_link', 'throttled: allowed message rate exceeded'],
  RINVSCHED: [0x61, 'permanent', 'invalid scheduled delivery time'],
  RINVEXPIRY: [0x62, 'permanent', 'invalid validity period'],
  RINVDFTMSGID: [0x63, 'permanent', 'predefined message is invalid or not found'],
  RX_T_APPN: [0x64, 'retry_later', 'temporary application error'],
  RX_P_APPN: [0x65, 'permanent', 'permanent application error'],
  RX_R_APPN: [0x66, 'permanent', 'message rejected by the application'],
  RQUERYFAIL: [0x67, 'permanent', 'query failed'],
  RINVOPTPARSTREAM: [0xc0, 'permanent', 'error in the optional part of the body'],
  ROPTPARNOTALLWD: [0xc1, 'permanent', 'optional parameter not allowed'],
  RINVPARLEN: [0xc2, 'permanent', 'invalid parameter length'],
  RMISSINGOPTPARAM: [0xc3, 'permanent', 'expected optional parameter is missing'],
  RINVOPTPARAMVAL: [0xc4, 'permanent', 'invalid optional parameter value'],
  RDELIVERYFAILURE: [0xfe, 'permanent', 'delivery failure'],
  RUNKNOWNERR: [0xff, 'retry_later', 'unknown error'],
  RSERTYPUNAUTH: [0x100, 'permanent', 'not authorised to use the service type'],
  RPROHIBITED: [0x101, 'permanent', 'prohibited from the operation'],
  RSERTYPUNAVAIL: [0x102, 'retry_later', 'service type is unavailable'],
  RSERTYPDENIED: [0x103, 'permanent', 'service type is denied'],
  RINVDCS: [0x104, 'permanent', 'invalid data coding scheme'],
  RINVSRCADDRSUBUNIT: [0x105, 'permanent', 'source address subunit is invalid'],
  RINVDSTADDRSUBUNIT: [0x106, 'permanent', 'destination address subunit is invalid'],
} as const

/** Without the prefix ESME_: 'ROK', 'RTHROTTLED', … */
export type StatusName = keyof typeof STATUSES

const rows = Object.entries<StatusRow>(STATUSES)
const nameByCode = new Map(rows.map(([name, [code]]) => [code, name as StatusName]))

/** `ESME.RTHROTTLED` is 0x58. */
export const ESME: Readonly<Record<StatusName, number>> = Object.fromEntries(
  rows.map(([name, [code]]) => [name, code]),
) as Record<StatusName, number>

/** 'ESME_RTHROTTLED', or '0x00000400' for an unspecified code. */
export function statusName(code: number): string {
  const name = nameByCode.get(code)
  return name === undefined ? `0x${(code >>> 0).toString(16).padStart(8, '0')}` : `ESME_${name}`
}

/** Undefined for a carrier's own code. */
export function statusMeaning(code: number): string | undefined {
  const name = nameByCode.get(code)
  return name === undefined ? undefined : STATUSES[name][2]
}

/**
 * Classifies the status of a refused submit. Unspecified codes are `permanent`, which cannot loop. `overrides` is the carrier's table by code and
 * takes precedence.
 */
export function classifyStatus(code: number, overrides?: ReadonlyMap<number, StatusClass>): StatusClass {
  const override = overrides?.get(code)
  if (override !== undefined) return override
  const name = nameByCode.get(code)
  return name === undefined ? 'permanent' : STATUSES[name][1]
}
