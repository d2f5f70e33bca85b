import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstIdAt, newId, parseId, showId, timeOfId } from './ids.ts'

test('ids of one process only increase, even within a millisecond and when the clock goes back', () => {
  let last = newId()
  for (let i = 0; i < 20_000; i++) {
    const next = newId(i % 7 === 0 ? Date.now() - 1000 : Date.now())
    expect(next > last).toBe(true)
    last = next
  }
})

test('a new id is a UUIDv7 that carries its time', () => {
  const at = Date.now() + 60_000
  const id = newId(at)
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(timeOfId(id)).toBe(at)
  expect(firstIdAt(at) < id && id < firstIdAt(at + 1)).toBe(true)
})

test('the public form is the TypeID of the UUID', () => {
  // Vectors of the TypeID specification (jetify-com/typeid, spec/valid.json).
  expect(showId('msg', '00000000-0000-0000-0000-000000000001')).toBe('msg_00000000000000000000000001')
  expect(showId('msg', 'ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('msg_7zzzzzzzzzzzzzzzzzzzzzzzzz')
  expect(showId('msg', '01890a5d-ac96-774b-bcce-b302099a8057')).toBe('msg_01h455vb4pex5vsknk084sn02q')
})

test('every UUID is restored from its public form', () => {
  fc.assert(fc.property(fc.uuid(), (uuid) => parseId('evt', showId('evt', uuid)) === uuid))
})

test('an id of another kind is refused', () => {
  const id = showId('msg', newId())
  for (const bad of [
    '',
    'msg',
    'msg_',
    id + '0',
    id.slice(0, -1),
    id.replace('msg', 'cmp'),
    id.toUpperCase(),
    'msg_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    'msg_0000000000000000000000000u',
  ])
    expect(parseId('msg', bad)).toBe(null)
})
