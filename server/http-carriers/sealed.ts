/** Secrets of HTTP carriers at rest: one sealed JSON object a carrier. */
import type { Vault } from '../ground/sealing/vault.ts'
import type { Secrets } from './adapter.ts'

const purposeOf = (carrierId: string): string => `carriers.secrets|${carrierId}`

/** Seals the secrets of a carrier. */
export function sealSecrets(vault: Vault, carrierId: string, secrets: Secrets): Buffer {
  return vault.seal(JSON.stringify(secrets), purposeOf(carrierId))
}

/** Opens the secrets of a carrier; none where it has none. @throws when they were sealed with another key. */
export function openSecrets(vault: Vault, carrier: { id: string; secrets: Buffer | null }): Record<string, string> {
  if (carrier.secrets === null) return {}
  return JSON.parse(vault.open(carrier.secrets, purposeOf(carrier.id))) as Record<string, string>
}

/** The same for who is about to replace them: none where they were sealed with a key that is gone. */
export function tryOpenSecrets(vault: Vault, carrier: { id: string; secrets: Buffer | null }): Record<string, string> {
  try {
    return openSecrets(vault, carrier)
  } catch {
    return {}
  }
}
