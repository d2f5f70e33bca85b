import type { Room } from '../events/face.ts'
import type { Submitter } from './submit.ts'

export const room = {
  sweeps: {
    links: ({ submitter }: { submitter: Submitter }) => [
      { name: 'stranded intents', everyMs: 2000, run: () => submitter.releaseStranded() },
    ],
  },
} satisfies Room
