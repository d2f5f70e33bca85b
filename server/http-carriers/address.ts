/** Where a carrier posts receipts and replies: an address of our API with a secret in it. */
import { showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { isSame } from './signature.ts'

/** What a carrier says about: `receipts` of our messages, or `replies` of people. */
export type InboundKind = 'receipts' | 'replies'

/** The address without its secret, as a path of the API. */
export const inboundPath = '/carriers/:carrier/:token'

/** The address for a carrier's settings; another `version` is another address. */
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

/** Whether a token is the one in the carrier's address now. */
export function isToken(vault: Vault, carrierId: string, version: number, token: string): boolean {
  return isSame(token, tokenOf(vault, carrierId, version))
}

/** 24 characters, 144 bits; derived, so that nothing has to be stored. */
function tokenOf(vault: Vault, carrierId: string, version: number): string {
  return vault.mac('carriers.inbound', `${carrierId} ${version}`).subarray(0, 18).toString('base64url')
}
