/** This process's slots of a link: when to dial each, and which has the most room. */
import { backOffMs, isOfCredentials, noLosses } from './backoff.ts'
import { Slot, type SlotLoss, type SlotOptions } from './slot.ts'

interface SlotSetOptions<C> extends Omit<SlotOptions<C>, 'onBound' | 'onLost'> {
  onDial: () => void
  onBound: (slot: Slot<C>) => void
  /** A slot is lost, and dialled again in `waitMs`; not called for closed ones. */
  onLost: (slot: Slot<C>, loss: SlotLoss, waitMs: number) => void
}

export class SlotSet<C> {
  readonly #options: SlotSetOptions<C>
  readonly #slots = new Map<number, Slot<C>>()
  /** Consecutive losses while no slot is bound, and the time of the next dial: slots do not dial one after the other. */
  #losses = noLosses()
  #retryAt = 0
  #redial: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(options: SlotSetOptions<C>) {
    this.#options = options
  }

  get size(): number {
    return this.#slots.size
  }

  get state(): 'down' | 'binding' | 'bound' {
    let state: 'down' | 'binding' = 'down'
    for (const slot of this.#slots.values()) {
      if (slot.state === 'bound') return 'bound'
      if (slot.state === 'binding') state = 'binding'
    }
    return state
  }

  /** Whether there is a session to write to, with or without room. */
  get hasSession(): boolean {
    for (const slot of this.#slots.values()) if (slot.transmitter && !slot.isClosing) return true
    return false
  }

  /** Submits that all windows take now. */
  get room(): number {
    let room = 0
    for (const slot of this.#slots.values()) if (!slot.isClosing) room += slot.room
    return room
  }

  get sessions(): number {
    return this.#sum((slot) => slot.sessions)
  }

  get inFlight(): number {
    return this.#sum((slot) => slot.inFlight)
  }

  get lastEnquireAt(): Date | null {
    const at = Math.max(0, ...[...this.#slots.values()].map((slot) => slot.lastEnquireAnsweredAtMs))
    return at > 0 ? new Date(at) : null
  }

  /** The slot with the most room; null if all windows are full. */
  freest(): Slot<C> | null {
    let best: Slot<C> | null = null
    let most = 0
    for (const slot of this.#slots.values()) {
      const { room } = slot
      if (room <= most || slot.isClosing) continue
      best = slot
      most = room
    }
    return best
  }

  /** Holds exactly these slots: closes others at once, and dials new ones. */
  hold(numbers: readonly number[]): void {
    if (this.#isClosed) return
    for (const number of this.#slots.keys()) if (!numbers.includes(number)) void this.drop(number, 0)
    for (const number of numbers) if (!this.#slots.has(number)) this.#slots.set(number, this.#make(number))
    this.#dial()
  }

  /** Drains a slot and lets it go; at once with 0. */
  async drop(number: number, drainMs: number): Promise<void> {
    const slot = this.#slots.get(number)
    if (!slot) return
    await slot.close(drainMs)
    if (this.#slots.get(number) === slot) this.#slots.delete(number)
    this.#dial()
  }

  async close(drainMs: number): Promise<void> {
    this.#isClosed = true
    if (this.#redial) clearTimeout(this.#redial)
    await Promise.all([...this.#slots.keys()].map((number) => this.drop(number, drainMs)))
  }

  #sum(of: (slot: Slot<C>) => number): number {
    let sum = 0
    for (const slot of this.#slots.values()) sum += of(slot)
    return sum
  }

  #make(number: number): Slot<C> {
    return new Slot<C>(number, {
      ...this.#options,
      onBound: (slot) => {
        this.#options.onBound(slot)
        this.#dial()
      },
      onLost: (slot, loss) => this.#noteLoss(slot, loss),
    })
  }

  /** Dials what is down: all slots if one is bound, else one at a time, so that a wrong password is sent once and not fifty times. */
  #dial(): void {
    if (this.#isClosed) return
    const now = performance.now()
    const isAlone = this.state !== 'bound'
    if (isAlone && [...this.#slots.values()].some((slot) => slot.isDialling)) return
    let next = Infinity
    for (const slot of this.#slots.values()) {
      if (slot.state !== 'down' || slot.isClosing) continue
      const at = isAlone ? this.#retryAt : slot.retryAt
      if (at > now) next = Math.min(next, at)
      else {
        this.#options.onDial()
        this.#tryDial(slot)
        if (isAlone) return
      }
    }
    if (this.#redial) clearTimeout(this.#redial)
    this.#redial = next < Infinity ? setTimeout(() => this.#dial(), Math.ceil(next - now)) : null
  }

  #tryDial(slot: Slot<C>): void {
    try {
      slot.dial()
    } catch (error) {
      slot.abandon()
      const detail = error instanceof Error ? error.message : String(error)
      this.#noteLoss(slot, { reason: 'connect_failed', detail, bindStatus: 0, wasBound: false, wasSteady: false })
    }
  }

  #noteLoss(slot: Slot<C>, loss: SlotLoss): void {
    if (this.#isClosed || slot.isClosing) return
    const { reason, bindStatus, wasBound, wasSteady } = loss
    if (wasSteady) {
      this.#losses = noLosses()
      slot.losses = noLosses()
    }
    const isAlone = this.state !== 'bound'
    const losses = isAlone ? this.#losses : slot.losses
    const waitMs = backOffMs(
      losses[isOfCredentials(reason, bindStatus) ? 'credentials' : 'others']++,
      reason,
      bindStatus,
      wasBound,
    )
    slot.retryAt = performance.now() + waitMs
    if (isAlone) this.#retryAt = slot.retryAt
    this.#options.onLost(slot, loss, waitMs)
    this.#dial()
  }
}
