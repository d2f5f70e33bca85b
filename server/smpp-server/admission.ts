/** Credentials of this process's sessions, read each second. */
import { senderCountryColumn } from '../accounts/store.ts'
import type { Db } from '../ground/db/db.ts'
import type { Admission } from './bind.ts'
import { settingColumns } from './credential.ts'

/** `share` is this node's part of the credential's sessions, and so of its pace. */
export type CurrentAdmission = Admission & { isActive: boolean; share: number }

/**
 * Deletes rows of sessions that this node does not have: a bind whose commit got no response was refused, and would keep its place forever.
 * A minute is longer than a bind takes. By smpp_sessions_node.
 */
export async function forgetSessions(db: Db, nodeId: string, sessionIds: string[]): Promise<void> {
  await db.query(
    `delete from smpp_sessions
     where node_id = $1
       and not id = any ($2::uuid[])
       and bound_at < now() - interval '1 minute'`,
    [nodeId, sessionIds],
  )
}

/**
 * The credentials of this node's sessions, by id, even if the node is fenced and does not know it; deleted ones are missing. By
 * smpp_sessions_node and smpp_sessions_credential.
 */
export async function readAdmissions(db: Db, nodeId: string): Promise<Map<string, CurrentAdmission>> {
  const { rows } = await db.query<CurrentAdmission>({
    name: 'read-smpp-admissions',
    text: `
      with mine as materialized (
        select account_id, credential_id, count(*) as sessions
        from smpp_sessions
        where node_id = $1
        group by account_id, credential_id
      )
      select c.account_id as "accountId", c.id as "credentialId", c.system_id as "systemId", c.mode,
        c.password_hash as "passwordHash", ${settingColumns('c')}, a.status = 'active' as "isActive",
        a.settings ->> 'default_country' as "defaultCountry", ${senderCountryColumn},
        mine.sessions::float8 / (
          select count(*)
          from smpp_sessions s
          join nodes n on n.id = s.node_id and (n.fenced_at is null or n.id = $1)
          where s.account_id = c.account_id and s.credential_id = c.id) as share
      from mine
      join smpp_credentials c on c.account_id = mine.account_id and c.id = mine.credential_id
      join accounts a on a.id = c.account_id`,
    values: [nodeId],
  })
  return new Map(rows.map((row) => [row.credentialId, row]))
}

/** A credential in any state, by primary key: accepted submissions are sent. */
export async function findAdmission(db: Db, accountId: string, credentialId: string): Promise<Admission | null> {
  const { rows } = await db.query<Admission>(
    `select c.account_id as "accountId", c.id as "credentialId", c.system_id as "systemId", c.mode,
       c.password_hash as "passwordHash", ${settingColumns('c')},
       a.settings ->> 'default_country' as "defaultCountry", ${senderCountryColumn}
     from smpp_credentials c
     join accounts a on a.id = c.account_id
     where c.account_id = $1 and c.id = $2`,
    [accountId, credentialId],
  )
  return rows[0] ?? null
}
