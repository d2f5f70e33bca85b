/** For tests of what carriers deliver: a link without a socket. */
import type { MessageRequest } from '@heliogram/smpp'
import { aliveSession } from '../carriers/testing.ts'
import type { DeliverySession } from '../links/carrier-link.ts'
import type { Link } from '../links/link.ts'
import { smppDefaults, type SmppSettings } from '../links/carrier-settings.ts'
import { ourNumber, silent, type LedgerTest } from '../messages/testing.ts'
import type { ReceiveContext } from './context.ts'
import { receive } from './receive.ts'
import { Redeliveries } from './redelivery.ts'

export type Fields = Partial<Extract<MessageRequest, { command: 'deliver_sm' }>>

export const linkOf = ({ linkId }: LedgerTest, settings: Partial<SmppSettings> = {}): Link =>
  ({
    id: linkId,
    receiptsId: linkId,
    settings: { ...smppDefaults, host: '', port: 1, system_id: '', ...settings },
  }) as Link

export const receivingOf = (test: LedgerTest, changes: Partial<ReceiveContext> = {}): ReceiveContext => ({
  ...test.context,
  log: silent,
  ledger: test.ledger,
  redeliveries: new Redeliveries(test.nodeId),
  wake: () => {},
  ...changes,
})

/** Delivers "Hi" from a person, or what `fields` say; resolves with the answer. */
export function deliverTo(
  context: ReceiveContext,
  link: Link,
  fields: Fields = {},
  session: DeliverySession = aliveSession(),
): Promise<number> {
  const head = { command: 'deliver_sm', command_id: 5, command_status: 0, sequence_number: 1 }
  const addresses = { source_addr: '15551230001', destination_addr: ourNumber }
  const text = { esm_class: 0, data_coding: 0, short_message: Buffer.from('Hi') }
  const pdu = { ...head, ...addresses, ...text, ...fields } as MessageRequest
  return new Promise((resolve) => receive(context, link, pdu, resolve, session))
}
