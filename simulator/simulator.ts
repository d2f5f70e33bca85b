import { Agenda } from './agenda.ts'
import { Carrier } from './carrier.ts'
import { makeCertificate } from './certificate.ts'
import { openChanges } from './changes.ts'
import { type Faults, faultlessOf } from './faults.ts'
import { PhonesServer } from './http.ts'
import { parseLatency, type PickDelay } from './latency.ts'
import type { LedgerEntry } from './ledger.ts'
import type { Delivery } from './mailbox.ts'
import { Mailboxes } from './mailboxes.ts'
import { createMessageIds } from './message-ids.ts'
import { MISCHIEF, type Mischief } from './mischief.ts'
import { settingsOf, type SimulatorOptions } from './options.ts'
import { type PhoneMessage, Phones } from './phones.ts'
import { Smsc } from './smsc.ts'
import { type Counters, createCounters, createDuplicateCheck } from './stats.ts'

export interface Stats extends Counters {
  bound: number
  /** deliver_sm that wait for a session with room. */
  held: number
  since: Date
}

/** Which port is unavailable, and why (`EADDRINUSE`, `EACCES`, …). */
export class PortError extends Error {
  readonly door: 'smpp' | 'http'
  readonly port: number
  readonly code: string

  constructor(door: 'smpp' | 'http', port: number, cause: unknown) {
    super(`cannot listen on ${door} port ${port}`, { cause })
    this.name = 'PortError'
    this.door = door
    this.port = port
    this.code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

/** A simulated SMSC whose recipients have known fates, with phones in the browser. */
export class Simulator {
  /** Every submit, with `keepLedger`. */
  readonly ledger: LedgerEntry[] = []
  /** Every receipt and reply, with `keepLedger`. */
  readonly deliveries: Delivery[] = []
  /** PEM to trust for SMPP over TLS; null without TLS. */
  readonly certificate: string | null
  readonly phones: Phones
  readonly #settings
  readonly #faultless: Faults
  readonly #faults: Faults
  readonly #delays
  readonly #counters = createCounters()
  readonly #agenda = new Agenda()
  readonly #changes = openChanges()
  readonly #mailboxes: Mailboxes
  readonly #carrier: Carrier
  readonly #smsc: Smsc
  readonly #http: PhonesServer
  readonly #since = new Date()

  constructor(options: SimulatorOptions = {}) {
    const settings = settingsOf(options)
    this.#faultless = faultlessOf(settings)
    const faults = { ...this.#faultless }
    this.#faults = faults
    const delays = delaysOf(faults)
    this.#delays = delays
    const certificate = settings.tls ? makeCertificate(settings.host) : null
    this.certificate = certificate?.cert ?? null
    const counters = this.#counters
    const agenda = this.#agenda
    this.#settings = settings
    const phones = new Phones(settings, (number) => this.#changes.note(number))
    this.phones = phones
    const onProgress = (number: string): void => phones.touch(number)
    const mailboxes = new Mailboxes({ settings, agenda, counters, onProgress, deliveries: this.deliveries })
    this.#mailboxes = mailboxes
    const carrier = new Carrier({
      settings,
      faults,
      delays,
      counters,
      agenda,
      phones,
      mailboxes,
      nextId: createMessageIds(),
      isDuplicate: createDuplicateCheck(settings.duplicateWindow),
      ledger: this.ledger,
      write: (session, bytes) => void this.#smsc.lineOf(session)?.write(bytes),
    })
    this.#carrier = carrier
    this.#smsc = new Smsc({ settings, certificate, faults, counters, agenda, carrier, mailboxes })
    this.#http = new PhonesServer(this, this.#changes, settings)
  }

  /** Rejects with PortError if a port is unavailable, and then listens on neither. */
  async start(): Promise<{ smppPort: number; httpPort: number }> {
    const { host, port, httpPort } = this.#settings
    const smppPort = await this.#smsc.listen(host, port).catch((error: unknown) => {
      throw new PortError('smpp', port, error)
    })
    try {
      return { smppPort, httpPort: await this.#http.listen(host, httpPort, smppPort) }
    } catch (error) {
      await this.close()
      throw new PortError('http', httpPort, error)
    }
  }

  async close(): Promise<void> {
    this.#agenda.close()
    this.#changes.close()
    await Promise.all([this.#smsc.close(), this.#http.close()])
  }

  stats(): Stats {
    const bound = this.#smsc.sessions.filter((session) => session.state === 'bound').length
    return { ...this.#counters, bound, held: this.#mailboxes.held, since: this.#since }
  }

  faults(): Readonly<Faults> {
    return { ...this.#faults }
  }

  /** Sets these faults and resets the others. Releases what was paused or held back. */
  misbehave(faults: Partial<Faults>): void {
    Object.assign(this.#faults, faults)
    Object.assign(this.#delays, delaysOf(this.#faults))
    this.#mailboxes.holdReceipts(this.#faults.isHoldingReceipts)
    if (!this.#faults.isPaused) this.#carrier.resume()
  }

  behave(): void {
    this.misbehave(this.#faultless)
  }

  do(mischief: Mischief): void {
    for (const session of this.#smsc.sessions) MISCHIEF[mischief](session, this.#smsc.lineOf(session))
  }

  /** Sends a text from a phone to one of our numbers, both as digits; null if it is too long. */
  reply(from: string, to: string, text: string): PhoneMessage | null {
    return this.#carrier.reply(from, to, text)
  }
}

function delaysOf({ responseLatency, receiptLatency, replyLatency }: Faults): Record<Delayed, PickDelay> {
  return { response: delayOf(responseLatency), receipt: delayOf(receiptLatency), reply: delayOf(replyLatency) }
}

type Delayed = 'response' | 'receipt' | 'reply'

function delayOf(text: string): PickDelay {
  const pick = parseLatency(text)
  if (pick === null) throw new RangeError(`${text} is not a latency`)
  return pick
}
