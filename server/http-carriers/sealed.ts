/** Secrets of HTTP carriers at rest: one sealed JSON object a carrier. */
import type { Vault } from '../ground/sealing/vault.ts'
import type { Secrets } from './adapter.ts'

const purposeOf = (carrierId: string): string => `carriers.secrets|${carrierId}`

export function sealSecrets(vault: Vault, carrierId: string, secrets: Secrets): Buffer {
  return vault.seal(JSON.stringify(secrets), purposeOf(carrierId))
}

/** Empty if the carrier has none. @throws if they were sealed with another key. */
export function openSecrets(vault: Vault, carrier: { id: string; secrets: Buffer | null }): Record<string, string> {
  if (carrier.secrets === null) return {}
  return JSON.parse(vault.open(carrier.secrets, purposeOf(carrier.id))) as Record<string, string>
}

/** For replacing secrets: empty if their key is gone. */
export function tryOpenSecrets(vault: Vault, carrier: { id: string; secrets: Buffer | null }): Record<string, string> {
  try {
    return openSecrets(vault, carrier)
  } catch {
    return {}
  }
}
