import { expect, test } from 'vitest'
import { newId } from '../ground/base/ids.ts'
import { createLane, roomIn, type PostLane } from './lane.ts'

test('holds what its endpoint takes in a second, if that is more than a thousand', () => {
  expect(roomIn(undefined, false)).toBe(1024)
  expect(roomIn(laneAfter(0, true, 0), false)).toBe(1024)
  expect(roomIn(laneAfter(300, true, 200), false)).toBe(1024)
  const room = roomIn(laneAfter(300, true, 50), false)
  expect(room).toBeGreaterThan(2500)
  expect(room).toBeLessThan(2700)
  expect(roomIn(laneAfter(300, true, 1), false)).toBe(4096)
})

test('holds no more than a thousand if memory is scarce, and little if the endpoint fails', () => {
  expect(roomIn(laneAfter(300, true, 1), true)).toBe(1024)
  const failing = laneAfter(300, true, 1)
  failing.window.note(false, 1, false)
  expect(roomIn(failing, false)).toBe(failing.window.size * 2)
})

function laneAfter(posts: number, isOk: boolean, durationMs: number): PostLane {
  const posting = {
    endpointId: newId(),
    accountId: newId(),
    eventId: newId(),
    messageId: null,
    dueAt: new Date(),
    try: 1,
    url: null,
  }
  const lane = createLane(posting, 128)
  for (let i = 0; i < posts; i++) lane.window.note(isOk, durationMs, false)
  return lane
}
