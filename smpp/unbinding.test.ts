import { afterEach, expect, test } from 'vitest'
import { ESME } from './status.ts'
import { aLink, closeLinks, until } from './testing.ts'

afterEach(closeLinks)

test('requests before the peer’s unbind are answered before it, because it may hang up with our response', async () => {
  const { session, peer, requests } = await aLink()
  session.submit({ short_message: Buffer.from('ours') }, 'ours')
  peer.send(
    { command: 'deliver_sm', sequence_number: 48, short_message: Buffer.from('a') },
    { command: 'deliver_sm', sequence_number: 49, short_message: Buffer.from('b') },
    { command: 'unbind', sequence_number: 50 },
    { command: 'enquire_link', sequence_number: 51 },
  )
  await peer.take('enquire_link_resp')
  requests[1]?.respond(ESME.ROK)
  await peer.take('deliver_sm_resp')
  requests[0]?.respond(ESME.RX_T_APPN)
  await peer.take('unbind_resp')
  const answers = peer.received.map(({ command, sequence_number }) => [command, sequence_number])
  expect(answers.slice(-4)).toEqual([
    ['enquire_link_resp', 51],
    ['deliver_sm_resp', 49],
    ['deliver_sm_resp', 48],
    ['unbind_resp', 50],
  ])
  // Our own outstanding requests do not delay it.
  expect([session.state, session.inFlight]).toEqual(['unbinding', 1])
})

test('an unbind is answered in the end even if an earlier request is not', async () => {
  const { session, peer, requests } = await aLink({ responseTimeoutMs: 50 })
  peer.send(
    { command: 'deliver_sm', sequence_number: 49, short_message: Buffer.from('a') },
    { command: 'unbind', sequence_number: 50 },
  )
  await peer.take('unbind_resp')
  await until(() => session.state === 'closed', 'the session is closed')
  expect([session.closeReason, requests.length]).toEqual(['peer_unbound', 1])
  expect(peer.received.filter(({ command }) => command === 'unbind_resp').length).toBe(1)
})

test('an unbind during our own is also answered when everything is', async () => {
  const { session, peer, requests, states } = await aLink()
  peer.send({ command: 'deliver_sm', sequence_number: 49, short_message: Buffer.from('a') })
  await until(() => requests.length === 1, 'the request is there')
  const unbound = session.unbind(60_000)
  peer.send({ command: 'unbind', sequence_number: 50 }, { command: 'enquire_link', sequence_number: 51 })
  await peer.take('enquire_link_resp')
  expect(peer.received.some(({ command }) => command === 'unbind_resp')).toBe(false)
  requests[0]?.respond(ESME.ROK)
  const { sequence_number } = await peer.take('unbind')
  await peer.take('unbind_resp')
  peer.send({ command: 'unbind_resp', sequence_number })
  await unbound
  expect(states.at(-1)).toBe('closed: unbound')
})
