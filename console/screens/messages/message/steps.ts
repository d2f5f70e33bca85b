/** One timeline of a message: the decisions of one instant in one step, and the posts to webhooks between them. */
import type { Message, Operations } from '@heliogram/sdk'
import { tellPostError } from '../../../kit/post-error.ts'
import type { Tone } from '../../../kit/show.tsx'

export type Decision = Operations['explainMessage']['answer']['decisions'][number]
export type Event = Operations['listEvents']['answer']['data'][number]
export type Post = Operations['listEventDeliveries']['answer']['data'][number]

export interface Step {
  /** Milliseconds since 1970. */
  at: number
  title: string
  /** The most telling sentence. */
  detail: string
  tone: Tone
  decisions: Decision[]
  /** A post to a webhook, with its event. */
  post?: { attempt: Post; event: Event }
}

const outcomes: Partial<Record<string, readonly [title: string, tone: Tone]>> = {
  sent: ['Carrier accepted', 'busy'],
  delivered: ['Delivered', 'good'],
  received: ['Received', 'good'],
  undelivered: ['Not delivered', 'bad'],
  rejected: ['Rejected', 'bad'],
  failed: ['Failed', 'bad'],
  expired: ['Expired', 'bad'],
  unconfirmed: ['Unconfirmed', 'warning'],
  canceled: ['Canceled', 'warning'],
}

const answers: Partial<Record<string, readonly [title: string, tone: Tone]>> = {
  accepted: ['Carrier accepted', 'busy'],
  adopted: ['Carrier accepted', 'busy'],
  refused: ['Carrier refused', 'bad'],
  unknown: ['No answer', 'warning'],
}

const titles: Record<Decision['step'], string> = {
  accept: 'Accepted',
  country: 'Country',
  sender: 'Sender',
  route: 'Route',
  hold: 'On hold',
  submit: 'Submitted',
  answer: 'Answer',
  retry: 'Retried',
  receipt: 'Receipt',
  outcome: 'Outcome',
}

export const tellStep = (step: Decision['step']): string => titles[step]

/** Decisions that are made together; the last names them. */
const together: readonly (readonly Decision['step'][])[] = [
  ['country', 'sender', 'accept', 'route'],
  ['hold'],
  ['retry', 'submit'],
  ['answer', 'receipt', 'outcome'],
]

const weightOf = ({ step }: Decision): number => together.flat().indexOf(step)

type Of = Pick<Message, 'segments' | 'direction'>

function nameStep({ step, decision }: Decision, message: Of): readonly [title: string, tone: Tone] {
  const known = step === 'outcome' ? outcomes[decision ?? ''] : step === 'answer' ? answers[decision ?? ''] : undefined
  if (known) return known
  if (step === 'accept' && message.direction === 'inbound') return ['Received', 'good']
  if (step === 'route') return ['Accepted', 'neutral']
  if (step === 'hold' && decision === 'scheduled') return ['Scheduled', 'busy']
  return [titles[step], 'neutral']
}

/** ` segment 1`, ` segments 1, 2`: those that a step of a long message is about. */
function tellSegments(first: Decision, group: readonly Decision[]): string {
  if (first.decision === 'sent') return ' all segments'
  const segments = group
    .filter(({ step, decision }) => step === first.step && decision === first.decision)
    .flatMap(({ segment }) => segment ?? [])
  return segments.length === 0 ? '' : ` segment${segments.length > 1 ? 's' : ''} ${segments.join(', ')}`
}

export function stepsOf(decisions: readonly Decision[], message: Of): Step[] {
  const instants = [...new Set(decisions.map(({ at }) => at))]
  const groups = instants.flatMap((at) =>
    together.map((steps) => decisions.filter((one) => one.at === at && steps.includes(one.step))),
  )
  return groups.flatMap((group) => {
    if (group.length === 0) return []
    const first = group.reduce((most, one) => (weightOf(one) > weightOf(most) ? one : most))
    const [title, tone] = nameStep(first, message)
    const receipt = group.find(({ step }) => step === 'receipt')
    return {
      at: Date.parse(first.at),
      title: message.segments > 1 ? title + tellSegments(first, group) : title,
      detail: (first.decision === 'delivered' ? (receipt ?? first) : first).detail,
      tone,
      decisions: group,
    }
  })
}

export function postSteps(events: readonly Event[], posts: readonly Post[]): Step[] {
  return posts.flatMap((attempt) => {
    const event = events.find(({ id }) => id === attempt.event)
    if (!event) return []
    const isGood = attempt.outcome === 'ok'
    return {
      // It is over when the answer is there.
      at: Date.parse(attempt.created_at) + attempt.duration_ms,
      title: `${attempt.webhook === null ? 'Callback' : 'Webhook'} ${attempt.status_code ?? 'failed'}`,
      detail: `${event.type}, attempt ${attempt.try}${attempt.status_code === null ? `: ${tellPostError(attempt.outcome)}` : ''}`,
      tone: isGood ? ('good' as const) : ('bad' as const),
      decisions: [],
      post: { attempt, event },
    }
  })
}

export const inOrder = (steps: readonly Step[]): Step[] => steps.toSorted((a, b) => a.at - b.at)

/** Since the step before: `+14 ms`, `+1.62 s`, `+3 min 20 s`, `+2 h 5 min`. */
export function tellDelta(ms: number): string {
  if (ms < 1000) return `+${ms} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `+${seconds.toFixed(2)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `+${Math.floor(whole / 60)} min ${whole % 60} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 1440) return `+${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `+${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`
}
