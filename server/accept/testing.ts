import type { Handover, OwnLinks } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'

/** Room on one link, counted; keeps what is handed over. */
export class TestLinks implements OwnLinks {
  nodeId: string | null
  /** Free segments; 0: everything queues. */
  room = 0
  /** The link's maximum at a time; 0: too little to wait for. */
  most = 0
  linkId: string
  carrierId: string
  readonly taken: Handover[] = []
  wakes = 0
  /** The estimate for queued messages; null: unknown. */
  estimate: Date | null = null

  constructor(nodeId: string | null, linkId: string, carrierId: string) {
    this.nodeId = nodeId
    this.linkId = linkId
    this.carrierId = carrierId
  }

  preferUp([first]: readonly string[]): string | undefined {
    return first
  }

  reserve(segments: number, _type: MessageType, carrierId: string): string | null {
    if (this.room < segments || carrierId !== this.carrierId) return null
    this.room -= segments
    return this.linkId
  }

  roomFor(): { free: number; most: number } | null {
    return this.most > 0 ? { free: this.room, most: this.most } : null
  }

  release(_linkId: string, segments: number): void {
    this.room += segments
  }

  track<T>(statement: Promise<T>): Promise<T> {
    return statement
  }

  take(handovers: Handover[]): void {
    this.taken.push(...handovers)
  }

  wake(): void {
    this.wakes++
  }

  estimateSendAt(): Date | null {
    return this.estimate
  }
}
