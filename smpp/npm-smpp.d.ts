/** The part of npm `smpp` (which has no types) that tests and benchmarks use as a foreign peer. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events'
  import type { Server } from 'node:net'

  export interface NpmPdu {
    readonly command: string
    readonly command_status: number
    readonly sequence_number: number
    readonly [field: string]: unknown
    response(fields?: Record<string, unknown>): NpmPdu
  }

  export type Send = (fields?: Record<string, unknown>, onResponse?: (pdu: NpmPdu) => void) => boolean

  export interface NpmSession extends EventEmitter {
    readonly bind_transceiver: Send
    readonly submit_sm: Send
    readonly deliver_sm: Send
    readonly enquire_link: Send
    readonly unbind: Send
    send(pdu: NpmPdu): boolean
    close(): void
    destroy(): void
  }

  const smpp: {
    connect(options: { host: string; port: number }, onConnect: () => void): NpmSession
    createServer(onSession: (session: NpmSession) => void): Server
    readonly commands: Readonly<Record<string, { readonly id: number }>>
    readonly tlvs: Readonly<Record<string, { readonly id: number }>>
    readonly errors: Readonly<Record<string, number>>
  }
  export default smpp
}
