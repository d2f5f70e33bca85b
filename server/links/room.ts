import type { Room } from '../events/face.ts'
import { intentsDue } from './stranded.ts'
import type { Submitter } from './submit.ts'

export const room = {
  sweeps: {
    links: ({ submitter }: { submitter: Submitter }) => [
      { name: 'stranded intents', everyMs: 2000, due: intentsDue, run: () => submitter.releaseStranded() },
    ],
  },
} satisfies Room
