/** What a text needs: its encoding, its segments, and cheaper characters. Without Node.js, so that the console counts as the server does. */
export { gsm7Length, septetsOf, type DefaultAlphabet } from './alphabet.ts'
export { countSegments, findNonGsm7, planSegments, roomLeft } from './count.ts'
export type {
  Encoding,
  ConcatenationMode,
  EncodingChoice,
  NonGsm7Character,
  PlanOptions,
  SegmentCount,
} from './count.ts'
export { replacementOf, smart, type SmartReplacement, type SmartText } from './smart.ts'
