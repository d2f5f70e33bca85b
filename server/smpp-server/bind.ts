/** Judges binds: name and password, then network, then the number of sessions. Failures delay later attempts. */
import { ESME, type BindPdu } from '@heliogram/smpp'
import ipaddr from 'ipaddr.js'
import { senderCountryColumn } from '../accounts/store.ts'
import { isPassword } from '../accounts/login/password.ts'
import { beginAttempt, forgive, judged, rememberLogin } from '../accounts/login/throttle.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { ApiError } from '../ground/base/errors.ts'
import { newId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { settingColumns, type CredentialSettings } from './credential.ts'
import { ensureCursor } from './event-cursor.ts'

export interface Admission extends CredentialSettings {
  accountId: string
  credentialId: string
  systemId: string
  mode: 'live' | 'test'
  passwordHash: string
  /** Of the account, ISO 3166-1. */
  defaultCountry: string | null
  /** Of its default sender. */
  senderCountry: string | null
}

/** Why a bind was refused, for the log. */
export type BindFault =
  | 'throttled'
  | 'wrong_password'
  | 'disabled'
  | 'network'
  | 'sessions'
  | 'account_sessions'
  | 'unavailable'

export type BindVerdict =
  | { kind: 'admitted'; admission: Admission; sessionId: string }
  | { kind: 'refused'; status: number; fault: BindFault }

interface BindContext {
  db: Db
  vault: Vault
  nodeId: string
  /** Whether an account has all the sessions that it may have in this process. */
  isFull: (accountId: string) => boolean
}

const refused = (status: number, fault: BindFault): BindVerdict => ({ kind: 'refused', status, fault })

/**
 * Judges a bind from a network address; an admitted bind has its row in `smpp_sessions`. An unknown name gets the same response as a wrong
 * password, equally slowly. Failures count for the pair of name and address, and for the address: strangers cannot lock a client out.
 * @throws only bugs; a database that is down is a refusal.
 */
export async function judgeBind(context: BindContext, bind: BindPdu, address: string): Promise<BindVerdict> {
  try {
    return await judge(context, bind, address)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'login_throttled') return refused(ESME.RBINDFAIL, 'throttled')
    if (isUnavailable(error) || error instanceof ApiError) return refused(ESME.RSYSERR, 'unavailable')
    throw error
  }
}

async function judge({ db, vault, nodeId, isFull }: BindContext, bind: BindPdu, address: string): Promise<BindVerdict> {
  // Counted apart from logins over HTTP: a gateway with an old password must not delay people behind the same address.
  const counting: Vault = { ...vault, mac: (purpose, value) => vault.mac(`smpp ${purpose}`, value) }
  const attempt = await beginAttempt(db, counting, bind.system_id, { ip: address })
  const found = await findBySystemId(db, bind.system_id)
  const share = attempt.known.size > 0 ? 'smpp known' : 'smpp stranger'
  const isRight = await judged(db, attempt, () => isPassword(bind.password, found?.passwordHash ?? null, share))
  if (!found || !isRight) return refused(ESME.RINVPASWD, 'wrong_password')
  await forgive(db, attempt)
  await rememberLogin(db, counting, bind.system_id, address)
  const { isActive, ...admission } = found
  if (!admission.enabled || !isActive) return refused(ESME.RBINDFAIL, 'disabled')
  if (!isAllowedFrom(admission.allowedCidrs, address)) return refused(ESME.RBINDFAIL, 'network')
  if (isFull(admission.accountId)) return refused(ESME.RALYBND, 'account_sessions')
  const mode = bind.command.slice('bind_'.length)
  const sessionId = await openSession(db, admission, { nodeId, mode, address })
  return sessionId === null ? refused(ESME.RALYBND, 'sessions') : { kind: 'admitted', admission, sessionId }
}

/** Whether an address is in one of the networks; an empty list allows all. */
export function isAllowedFrom(cidrs: readonly string[], address: string): boolean {
  if (cidrs.length === 0) return true
  if (!ipaddr.isValid(address)) return false
  // A client over IPv4 on a dual-stack socket has a mapped address.
  const ip = ipaddr.process(address)
  return cidrs.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    return network.kind() === ip.kind() && ip.match([network, bits] as [ipaddr.IPv4, number])
  })
}

/** By the unique index on system_id, which is all that a bind names. */
async function findBySystemId(db: Db, systemId: string): Promise<(Admission & { isActive: boolean }) | null> {
  const { rows } = await db.query<Admission & { isActive: boolean }>({
    name: 'find-smpp-credential',
    text: `
      select c.account_id as "accountId", c.id as "credentialId", c.system_id as "systemId", c.mode,
        c.password_hash as "passwordHash", ${settingColumns('c')}, a.status = 'active' as "isActive",
        a.settings ->> 'default_country' as "defaultCountry", ${senderCountryColumn}
      from smpp_credentials c
      join accounts a on a.id = c.account_id
      where c.system_id = $1`,
    values: [systemId],
  })
  return rows[0] ?? null
}

/**
 * Inserts a session; null if the limit is reached, or the password changed meanwhile. Locks the credential's row, so that two binds cannot
 * take the last place; ignores sessions of fenced nodes. Also ensures the account's event cursor.
 */
function openSession(
  db: Db,
  { accountId, credentialId, passwordHash }: Admission,
  { nodeId, mode, address }: { nodeId: string; mode: string; address: string },
): Promise<string | null> {
  return inTransaction(db, async (tx) => {
    await ensureCursor(tx, accountId)
    const { rowCount } = await tx.query(
      `update smpp_credentials
       set last_bound_at = now()
       where account_id = $1 and id = $2 and password_hash = $3`,
      [accountId, credentialId, passwordHash],
    )
    if (rowCount !== 1) return null
    const id = newId()
    // A statement of its own, so that it sees what the lock waited for.
    const { rowCount: opened } = await tx.query(
      `insert into smpp_sessions (id, account_id, credential_id, node_id, mode, address)
       select $1, c.account_id, c.id, $4, $5, $6
       from smpp_credentials c
       where c.account_id = $2 and c.id = $3
         and c.sessions_max > (
           select count(*)
           from smpp_sessions s
           join nodes n on n.id = s.node_id and n.fenced_at is null
           where s.account_id = c.account_id and s.credential_id = c.id)`,
      [id, accountId, credentialId, nodeId, mode, address],
    )
    return opened === 1 ? id : null
  })
}

/** By primary key. */
export async function closeSessions(db: Db, sessionIds: string[]): Promise<void> {
  await db.query('delete from smpp_sessions where id = any ($1::uuid[])', [sessionIds])
}
