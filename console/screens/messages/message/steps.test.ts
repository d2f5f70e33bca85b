import { expect, test } from 'vitest'
import { inOrder, postSteps, stepsOf, tellDelta, type Decision, type Event, type Post } from './steps.ts'

const message = { segments: 1, direction: 'outbound' } as const
const at = (ms: number): string => new Date(Date.UTC(2026, 10, 28) + ms).toISOString()
const decide = (ms: number, step: Decision['step'], decision: string, detail: string): Decision => ({
  at: at(ms),
  step,
  decision,
  rule: null,
  detail,
})

const decisions = [
  decide(0, 'accept', 'otp', 'Accepted: 1 segment in GSM-7.'),
  decide(0, 'country', 'US', '+12025550123 is a number of US.'),
  decide(0, 'route', 'car_1', 'The default route sent it to simulator.'),
  decide(0, 'submit', 'car_1', 'Segment 1 was submitted to the carrier, attempt 1.'),
  decide(55, 'answer', 'accepted', 'The carrier accepted segment 1.'),
  decide(55, 'outcome', 'sent', 'The carrier accepted every segment.'),
  decide(845, 'receipt', 'DELIVRD', 'The receipt says DELIVRD, err 000.'),
  decide(845, 'outcome', 'delivered', 'Delivered.'),
]

test('decisions of one instant are one step, named by the one that says most', () => {
  expect(stepsOf(decisions, message).map(({ title, detail, tone }) => [title, detail, tone])).toEqual([
    ['Accepted', 'The default route sent it to simulator.', 'neutral'],
    ['Submitted', 'Segment 1 was submitted to the carrier, attempt 1.', 'neutral'],
    ['Carrier accepted', 'The carrier accepted every segment.', 'busy'],
    ['Delivered', 'The receipt says DELIVRD, err 000.', 'good'],
  ])
})

test('steps of a long message name their segments', () => {
  const one = (ms: number, step: Decision['step'], decision: string, segment: number): Decision => ({
    ...decide(ms, step, decision, ''),
    segment,
  })
  const long = [
    one(0, 'submit', 'car_1', 1),
    one(0, 'submit', 'car_1', 2),
    one(5, 'answer', 'accepted', 1),
    one(6, 'answer', 'accepted', 2),
    decide(6, 'outcome', 'sent', ''),
  ]
  expect(stepsOf(long, { ...message, segments: 2 }).map(({ title }) => title)).toEqual([
    'Submitted segments 1, 2',
    'Carrier accepted segment 1',
    'Carrier accepted all segments',
  ])
})

test('a post without an answer says why', () => {
  const event = { id: 'evt_1', type: 'message.delivered' } as Event
  const attempt = { event: 'evt_1', webhook: 'whk_1', try: 1, outcome: 'refused', status_code: null } as Post
  expect(postSteps([event], [{ ...attempt, created_at: at(0), duration_ms: 1 }])[0]).toMatchObject({
    title: 'Webhook failed',
    detail: 'message.delivered, attempt 1: nothing listens at its address',
  })
})

test('posts to webhooks are steps at their answer', () => {
  const event = { id: 'evt_1', type: 'message.delivered' } as Event
  const attempt = { event: 'evt_1', webhook: 'whk_1', try: 2, outcome: 'status', status_code: 500 } as Post
  const posts = postSteps([event], [{ ...attempt, created_at: at(846), duration_ms: 4 }])
  const [last] = inOrder([...posts, ...stepsOf(decisions, message)]).slice(-1)
  expect(last).toMatchObject({ title: 'Webhook 500', detail: 'message.delivered, attempt 2', tone: 'bad' })
  expect(last?.at).toBe(Date.parse(at(850)))
})

test('distances are exact where it matters', () => {
  expect([0, 999, 1620, 59_990, 200_000, 7_500_000, 180_000_000].map(tellDelta)).toEqual([
    '+0 ms',
    '+999 ms',
    '+1.62 s',
    '+59.99 s',
    '+3 min 20 s',
    '+2 h 5 min',
    '+2 d 2 h',
  ])
})
