/** The first start creates an account and its carrier: the environment's, else the simulator. Later only the rows matter. */
import { createFirstAccount, type FirstAccount } from '../accounts/first.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { capabilitiesOf } from '../senders/input.ts'
import { createSender } from '../senders/store.ts'
import { smppDefaults, type SmppSettings } from '../links/carrier-settings.ts'
import { insertCarrier } from '../links/carrier-store.ts'

/** Sender of the demo account, from the range for fiction (NANP 555). */
export const demoNumber = '15557654321'

/** Segments a second of the simulator. */
const simulatorPace = 1000
const carrierPace = 10

interface FirstOptions {
  /** Whether this process shows the account's key, which is not stored: otherwise another process creates the account. */
  showsKey: boolean
  firstEmail: string
  /** smpp://system_id:password@host:port, smpps:// with TLS; null: the simulator. */
  carrierUrl: string | null
  /** SMPP port of the simulator; null if it does not run: then the first carrier needs an address. */
  simulatorPort: number | null
}

/**
 * Creates the account and its carrier in one transaction: later starts would not give an existing account a carrier. A simulator's port
 * follows the environment on every start. Null: not the first start.
 */
export async function ensureFirst(db: Db, vault: Vault, options: FirstOptions): Promise<FirstAccount | null> {
  return inTransaction(db, async (tx) => {
    const made = options.showsKey ? await createFirstAccount(tx, options) : null
    await ensureFirstCarrier(tx, vault, options, made?.accountId ?? null)
    return made
  })
}

/** A live carrier, if no account of the installation has a number; null: there is none, or an account has one. */
export async function findCarrierWithoutNumber(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from carriers where kind <> 'simulator' and not is_test and not exists (select from senders) order by id limit 1`,
  )
  return rows[0] ? showId('car', rows[0].id) : null
}

/** Creates the first carrier if there is none, and the new account's number at the simulator. */
async function ensureFirstCarrier(
  tx: Tx,
  vault: Vault,
  { carrierUrl, simulatorPort }: FirstOptions,
  accountId: string | null,
): Promise<void> {
  await tx.query(`lock table carriers in share row exclusive mode`)
  const { rows } = await tx.query<{ id: string; kind: string; port: number }>(
    `select id, kind, (settings ->> 'port')::int as port from carriers where not is_test`,
  )
  const simulator = rows.find((row) => row.kind === 'simulator')
  if (simulator && simulatorPort !== null && simulator.port !== simulatorPort)
    await tx.query(
      `update carriers set settings = settings || jsonb_build_object('port', $2::int), updated_at = now() where id = $1`,
      [simulator.id, simulatorPort],
    )
  const first =
    carrierUrl !== null ? readCarrierUrl(carrierUrl) : simulatorPort !== null ? simulatorSettings(simulatorPort) : null
  if (rows.length > 0 || first === null || accountId === null) return
  const id = newId()
  const isSimulator = carrierUrl === null
  await insertCarrier(tx, {
    id,
    name: isSimulator ? 'simulator' : first.settings.host,
    kind: isSimulator ? 'simulator' : 'smpp',
    enabled: true,
    pace: isSimulator ? simulatorPace : carrierPace,
    priority: 100,
    settings: first.settings,
    secrets: vault.seal(first.password, `carriers.secrets|${id}`),
  })
  if (isSimulator)
    await createSender(tx, {
      accountId,
      id: newId(),
      carrierId: id,
      number: demoNumber,
      kind: 'long_code',
      country: 'US',
      capabilities: capabilitiesOf('long_code'),
      pace: null,
      isDefault: true,
    })
}

function simulatorSettings(port: number): { settings: SmppSettings; password: string } {
  return {
    settings: { ...smppDefaults, host: '127.0.0.1', port, system_id: 'heliogram', window: 1000 },
    password: 'secret',
  }
}

export function readCarrierUrl(text: string): { settings: SmppSettings; password: string } {
  const url = new URL(text)
  const tls = url.protocol === 'smpps:'
  return {
    settings: {
      ...smppDefaults,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (tls ? 3550 : 2775) : Number(url.port),
      system_id: decodeURIComponent(url.username),
      tls,
    },
    password: decodeURIComponent(url.password),
  }
}
