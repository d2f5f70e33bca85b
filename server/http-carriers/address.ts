/** The address where a carrier posts receipts and replies: a path of our API with a secret in it. */
import { showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { isSame } from './signature.ts'

/** `receipts` of our messages, or `replies` of people. */
export type InboundKind = 'receipts' | 'replies'

export const inboundPath = '/carriers/:carrier/:token'

/** The address for a carrier's settings; each `version` has another. */
export function inboundUrl(
  vault: Vault,
  publicUrl: string,
  carrierId: string,
  version: number,
  kind: InboundKind,
): string {
  const token = tokenOf(vault, carrierId, version)
  return `${publicUrl.replace(/\/$/, '')}/carriers/${showId('car', carrierId)}/${token}/${kind}`
}

/** Whether a token is the carrier's current one. */
export function isToken(vault: Vault, carrierId: string, version: number, token: string): boolean {
  return isSame(token, tokenOf(vault, carrierId, version))
}

/** 24 characters, 144 bits; derived, so that it need not be stored. */
function tokenOf(vault: Vault, carrierId: string, version: number): string {
  return vault.mac('carriers.inbound', `${carrierId} ${version}`).subarray(0, 18).toString('base64url')
}
