import type { Reason, Reasons } from '../message/taxonomy.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { CarrierLink, CarrierLinkOptions, OpenLink } from '../links/carrier-link.ts'
import { inboundUrl } from '../http-carriers/address.ts'
import { createHttpLink } from '../http-carriers/http-link.ts'
import { openSecrets } from '../http-carriers/sealed.ts'
import { Link, type LinkOptions } from '../links/link.ts'
import type { SmppSettings } from '../links/carrier-settings.ts'
import type { RunnableLink } from '../links/carrier-store.ts'

export interface LinkContext {
  vault: Vault
  /** The address to which carriers post receipts and replies; without it, HTTP links do not start. */
  publicUrl?: string
  /** Meanings of carriers' codes, with defaults. `ofLink` is for codes that are no command_status. */
  reasons?: Reasons & { ofLink?: (linkId: string) => { ofCode(code: string): Reason | null } }
  onDeliver: LinkOptions['onDeliver']
  /** Port of this process's simulator for test mode, which the first call starts; null if it does not run. */
  testPort?: () => number | null
  trace?: LinkOptions['trace']
}

/** @throws if a link's secrets are encrypted with another key. */
export const linkOpener =
  (context: LinkContext): OpenLink =>
  (link, options) =>
    openLink(context, link, options)

function openLink(
  { vault, publicUrl, reasons, onDeliver, testPort, trace }: LinkContext,
  link: RunnableLink,
  options: CarrierLinkOptions,
): CarrierLink {
  if (link.kind !== 'http') {
    const password = link.secrets ? vault.open(link.secrets, link.secretsOf) : ''
    const settings = link.isTest ? { ...link.settings, ...testAddress(testPort) } : link.settings
    return new Link({ ...options, receiptsId: link.receiptsId, settings, password, onDeliver, ...(trace && { trace }) })
  }
  if (publicUrl === undefined) throw new Error('a carrier over HTTP needs the public address of this service')
  const { settings } = link
  return createHttpLink({
    ...options,
    settings,
    secrets: openSecrets(vault, { id: link.carrierId, secrets: link.secrets }),
    receiptUrl: inboundUrl(vault, publicUrl, link.carrierId, settings.url_version, 'receipts'),
    reasonOf: (code) => reasons?.ofLink?.(link.id).ofCode(code) ?? null,
  })
}

/** Ignores the stored address, because a test message must not leave this machine. @throws if no simulator runs. */
function testAddress(testPort: LinkContext['testPort']): Pick<SmppSettings, 'host' | 'port' | 'tls'> {
  const port = testPort?.() ?? null
  if (port === null) throw new Error('the simulator of test mode does not run in this process')
  return { host: '127.0.0.1', port, tls: false }
}
