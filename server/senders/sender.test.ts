import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseSender, indexSenders, type Pool, type Sender, type SenderChoice, type SenderWish } from './sender.ts'

const sender = (id: string, changes: Partial<Sender> = {}): Sender => ({
  id,
  carrierId: 'a',
  number: id,
  kind: 'long_code',
  country: 'US',
  capabilities: ['sms', 'replies'],
  isDefault: false,
  ...changes,
})

describe('the sender of a message', () => {
  it('is the requested one, if the account has it', () => {
    const senders = [sender('1', { isDefault: true }), sender('2')]
    expect(told(choose(senders, { from: '2' }))).toEqual(['2', 'from'])
    expect(told(choose(senders, { from: '3' }))).toEqual([null, 'sender_not_found'])
  })

  it('is otherwise the default, else the carrier’s own', () => {
    expect(told(choose([sender('1'), sender('2', { isDefault: true })]))).toEqual(['2', 'default'])
    expect(told(choose([sender('1')]))).toEqual([null, 'none'])
  })

  it('is not a name where networks show none: another replaces the default, preferably of the same country', () => {
    const name = sender('Acme', { kind: 'alphanumeric', country: null, capabilities: ['sms'], isDefault: true })
    const [gb, us] = [sender('44', { country: 'GB' }), sender('1')]
    const choice = choose([name, gb, us])
    expect(told(choice)).toEqual(['1', 'instead_of_default'])
    expect(choice.passedOver).toEqual([{ sender: name, fault: 'alphanumeric_forbidden' }])
    expect(told(choose([name, gb]))).toEqual(['44', 'instead_of_default'])
    expect(told(choose([name]))).toEqual([null, 'sender_not_allowed'])
    expect(told(choose([name, us], { from: 'Acme' }))).toEqual([null, 'sender_not_allowed'])
    expect(told(choose([name, us], { country: 'GB' }))).toEqual(['Acme', 'default'])
  })

  it('is a short code or toll-free number only where it works', () => {
    const short = sender('40404', { kind: 'short_code' })
    const free = sender('18335550100', { kind: 'toll_free' })
    const ruleFor = (one: Sender, country: string | null): string => choose([one], { from: one.number, country }).rule
    expect([ruleFor(short, 'US'), ruleFor(short, 'CA'), ruleFor(short, null)]).toEqual([
      'from',
      'sender_not_allowed',
      'sender_not_allowed',
    ])
    expect([ruleFor(free, 'US'), ruleFor(free, 'CA'), ruleFor(free, 'GB')]).toEqual([
      'from',
      'from',
      'sender_not_allowed',
    ])
    expect(ruleFor({ ...free, capabilities: ['sms', 'international'] }, 'GB')).toBe('from')
    expect(ruleFor({ ...short, country: null }, 'GB')).toBe('from')
    expect(choose([{ ...free, capabilities: ['replies'] }], { from: free.number }).passedOver[0]?.fault).toBe(
      'cannot_send',
    )
  })
})

describe('a pool', () => {
  const senders = [sender('1'), sender('2'), sender('3'), sender('44', { country: 'GB' })]

  it('prefers senders of the recipient’s country', () => {
    for (const to of ['447700900001', '447700900002', '447700900003'])
      expect(told(choose(senders, { to, country: 'GB', pool: pool('sticky', '1', '2', '44') }))[0]).toBe('44')
  })

  it('keeps the sender that the recipient knows, while it is in the pool and can be used', () => {
    const ours = pool('sticky', '1', '2', '44')
    expect(told(choose(senders, { pool: ours, stickyId: '44' }))).toEqual(['44', 'pool_sticky'])
    expect(choose(senders, { pool: ours, stickyId: '3' }).rule).toBe('pool_weight')
    const mute = senders.map((one) => (one.id === '44' ? { ...one, capabilities: [] } : one))
    expect(choose(mute, { pool: ours, stickyId: '44' })).toMatchObject({ rule: 'pool_weight' })
  })

  it('chooses nothing if no member can be used', () => {
    expect(choose(senders, { pool: pool('sticky', 'gone') }).rule).toBe('sender_not_allowed')
  })

  it('that is sticky gives a person one sender for all messages; round robin divides messages', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.stringMatching(/^1[0-9]{10}$/), (one, other, to) => {
        const sticky = pool('sticky', '1', '2', '3')
        expect(choose(senders, { messageId: one, to, pool: sticky })).toEqual(
          choose(senders, { messageId: other, to, pool: sticky }),
        )
      }),
    )
    const counts = new Map<string | null, number>()
    for (let i = 0; i < 6000; i++) {
      const [id] = told(choose(senders, { messageId: `m${i}`, pool: pool('round_robin', ['1', 1], ['2', 2]) }))
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    expect((counts.get('2') ?? 0) / 6000).toBeCloseTo(2 / 3, 1)
  })

  it('moves few people when a sender joins, and only to it', () => {
    const before = pool('sticky', '1', '2')
    const after = pool('sticky', '1', '2', '3')
    let moved = 0
    for (let i = 0; i < 3000; i++) {
      const to = `1555${String(i).padStart(7, '0')}`
      const [[was], [is]] = [told(choose(senders, { to, pool: before })), told(choose(senders, { to, pool: after }))]
      if (was !== is) {
        moved++
        expect(is).toBe('3')
      }
    }
    expect(moved / 3000).toBeCloseTo(1 / 3, 1)
  })
})

const choose = (senders: Sender[], changes: Partial<SenderWish> = {}): SenderChoice =>
  chooseSender(indexSenders(senders), {
    messageId: 'm',
    to: '15551230001',
    country: 'US',
    from: null,
    pool: null,
    stickyId: null,
    ...changes,
  })
const pool = (strategy: Pool['strategy'], ...members: (string | [string, number])[]): Pool => ({
  id: 'p',
  strategy,
  members: members.map((one) =>
    typeof one === 'string' ? { senderId: one, weight: 1 } : { senderId: one[0], weight: one[1] },
  ),
})
const told = ({ sender: chosen, rule }: SenderChoice): [string | null, string] => [chosen?.id ?? null, rule]
