/** Posts whose answers say what is to be done: incoming messages in Twilio's form, which servers answer with replies. */

/** What a receiver was asked. */
export interface Asked {
  accountId: string
  webhookId: string
  eventId: string
  /** Of the event. */
  payload: string
  /** Where it went. */
  url: string
}

/** What it answered with a 2xx. */
export interface GivenAnswer {
  contentType: string | null
  /** Its first 64 KiB. */
  body: Buffer
  /** It is all there. */
  isWhole: boolean
}

/** Does what an answer says. Rejects where that has to be tried again, by another post. */
export type TakeAnswer = (asked: Asked, answer: GivenAnswer) => Promise<void>
