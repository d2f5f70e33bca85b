/** Posts with meaningful answers: incoming messages in Twilio's form, which servers answer with replies. */

export interface Asked {
  accountId: string
  webhookId: string
  eventId: string
  payload: string
  /** Its destination. */
  url: string
}

/** Its 2xx answer. */
export interface GivenAnswer {
  contentType: string | null
  /** Its first 64 KiB. */
  body: Buffer
  /** The body is complete. */
  isWhole: boolean
}

/** Acts on an answer. Rejects if another post must try again. */
export type TakeAnswer = (asked: Asked, answer: GivenAnswer) => Promise<void>
