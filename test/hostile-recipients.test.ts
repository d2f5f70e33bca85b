/** Every well-known recipient of the simulated carrier that leaves the session intact: final states for clients, and the books. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FATES } from '../simulator/index.ts'
import type { Message } from './client.ts'
import { audit, type Books, Lane, readBooks } from './lane.ts'
import { until } from './until.ts'

const short = 'As it pleases the carrier'
/** Three segments. */
const long = 'Every word of it, and then some more of them. '.repeat(9).trim()

interface Row {
  to: string
  becomes: Message['status'][]
  is?: Partial<Message>
  text?: string
  /** Statuses of the message's submits in the carrier's ledger, sorted by part. */
  submits?: string[]
  replies?: number
}

const rows: Row[] = [
  { to: '0001', becomes: ['delivered'] },
  { to: '0002', becomes: ['undelivered'] },
  { to: '0003', becomes: ['delivered'], is: { attempts: 3 }, submits: ['RTHROTTLED', 'RTHROTTLED', 'ROK'] },
  { to: '0004', becomes: ['sent'], is: { final: false, delivery_status: null } },
  { to: '0005', becomes: ['delivered'] },
  // STOP to the text, and to the confirmation of the STOP, which gets no answer.
  { to: '0006', becomes: ['delivered'], replies: 2 },
  { to: '0007', becomes: ['delivered'], replies: 1 },
  // The receipts of 0010, 0028 and 0030 are matched, because there is no other message to the number.
  { to: '0010', becomes: ['delivered'], is: { attempts: 1, possible_duplicate: false } },
  { to: '0012', becomes: ['delivered'] },
  // The id's radix differs from the link's setting: kept, and counted for the operator.
  { to: '0013', becomes: ['sent'] },
  { to: '0014', becomes: ['rejected'] },
  { to: '0015', becomes: ['undelivered'] },

  { to: '0020', becomes: ['unconfirmed'], submits: ['silent'] },
  { to: '0024', becomes: ['unconfirmed'], submits: ['nack_null'] },
  { to: '0025', becomes: ['delivered'], is: { attempts: 3 }, submits: ['RMSGQFUL', 'RMSGQFUL', 'ROK'] },
  { to: '0026', becomes: ['delivered'], is: { attempts: 2 }, submits: ['RSYSERR', 'ROK'] },
  { to: '0027', becomes: ['rejected'], is: { delivery_status: 'Failed' }, submits: ['0x00000400'] },
  { to: '0028', becomes: ['delivered'], is: { attempts: 1, possible_duplicate: false } },
  { to: '0029', becomes: ['delivered'] },
  { to: '0030', becomes: ['delivered'] },
  { to: '0031', becomes: ['rejected'], text: long, submits: ['ROK', 'RINVDSTADR', 'ROK'] },

  { to: '0040', becomes: ['delivered'] },
  { to: '0041', becomes: ['undelivered'] },
  { to: '0042', becomes: ['delivered'] },
  { to: '0043', becomes: ['delivered'] },
  { to: '0044', becomes: ['sent'] },
  { to: '0045', becomes: ['sent'] },
  { to: '0046', becomes: ['undelivered'] },
  { to: '0047', becomes: ['rejected'] },
  { to: '0048', becomes: ['sent'] },
  { to: '0049', becomes: ['undelivered'], text: long, is: { segments_delivered: 2 }, submits: ['ROK', 'ROK', 'ROK'] },

  { to: '0050', becomes: ['delivered'] },
  { to: '0051', becomes: ['delivered'] },
  { to: '0052', becomes: ['delivered'] },
  { to: '0053', becomes: ['delivered'] },
  { to: '0054', becomes: ['delivered'] },
  { to: '0055', becomes: ['delivered'] },
  { to: '0056', becomes: ['delivered'] },
  { to: '0057', becomes: ['delivered'] },
  { to: '0058', becomes: ['delivered'] },
  { to: '0060', becomes: ['sent'] },
  { to: '0061', becomes: ['sent'] },

  { to: '0070', becomes: ['delivered'], replies: 1 },
  { to: '0071', becomes: ['delivered'], replies: 1 },
  { to: '0072', becomes: ['delivered'], replies: 0 },

  { to: '15005550001', becomes: ['rejected'], submits: ['RINVDSTADR'] },
  { to: '15005550002', becomes: ['rejected'], submits: ['RDELIVERYFAILURE'] },
  { to: '15005550003', becomes: ['rejected'], submits: ['RPROHIBITED'] },
  { to: '15005550004', becomes: ['rejected'], submits: ['RX_R_APPN'] },
  { to: '15005550006', becomes: ['delivered'] },
  { to: '15005550009', becomes: ['undelivered'] },
]

/** Those that end the session, or are always refused, are in hostile.test.ts. */
const elsewhere = ['0011', '0021', '0022', '0023']

let lane: Lane
const ids = new Map<string, string>()
let binds: number

const numberOf = ({ to }: Row): string => (to.length === 4 ? lane.number(to) : to)

beforeAll(async () => {
  lane = await Lane.start()
  // An SMSC that echoes enquire_link is alive: one bind lasts for the whole table.
  await lane.prepare({ response_timeout_seconds: 3, enquire_link_seconds: 1 })
  await lane.carrier.phones.control({ enquire: 'echo' })
  binds = (await lane.carrier.phones.stats()).binds
  await Promise.all(
    rows.map(async (row) => {
      const [message] = await lane.send([numberOf(row)], row.text ?? short)
      ids.set(row.to, message?.id ?? '')
    }),
  )
})

afterAll(async () => {
  await lane?.close()
})

test('the table has every well-known recipient, here or elsewhere', () => {
  const tested = [...rows.map((row) => row.to), ...elsewhere]
  expect(tested.toSorted()).toEqual(FATES.map((fate) => fate.recipient).toSorted())
})

test.for(rows.map((row) => ({ ...row, happens: FATES.find((fate) => fate.recipient === row.to)?.happens })))(
  '$to becomes $becomes: $happens',
  async (row) => {
    const id = ids.get(row.to) ?? ''
    await lane.client.waitForStatus(id, row.becomes)
    if (row.to !== '0048') await lane.untilHeard([numberOf(row)])
    const message = await lane.client.message(id)
    expect(row.becomes).toContain(message.status)
    expect(message).toMatchObject(row.is ?? {})
    expect(message.delivery_status).toBe(deliveryStatus(message.status))
    expect(await lane.answersTo(message)).toEqual(row.submits ?? ['ROK'])
    expect(audit(await readBooks(lane, [id]))).toEqual([])
    if (row.replies !== undefined) await expectReplies(row, row.replies)
  },
)

function deliveryStatus(status: Message['status']): string | null {
  if (status === 'delivered') return 'Delivered'
  return status === 'undelivered' || status === 'rejected' ? 'Failed' : null
}

/** A typed reply arrives whole, once; one with a missing part is kept until it expires. */
async function expectReplies(row: Row, replies: number): Promise<void> {
  const from = numberOf(row)
  await until('the replies came', async () => (await lane.replies(from)).length === replies)
  const typed = (await lane.carrier.phones.messages(from)).filter(({ direction }) => direction === 'typed')
  expect(await lane.replies(from)).toEqual(typed.slice(0, replies).map(({ text }) => text))
  if (replies > 0) return
  const parts = await lane.db.query('select part from reply_parts where source = $1', [from])
  expect(parts.rows).toHaveLength((typed[0]?.segments ?? 0) - 1)
}

test('a receipt with an unknown id is counted at the link, and the session is never lost', async () => {
  const link = await lane.client.link()
  // …0013, …0060 and …0061.
  expect(link.unmatched_receipts).toBeGreaterThanOrEqual(3)
  expect((await lane.carrier.phones.stats()).binds).toBe(binds)
  expect(lane.program.stderr).not.toMatch(/"level":"error"/)
})

test.for<[what: string, spoil: (books: Books, message: Message) => void]>([
  [
    'a segment that went out twice without a refusal',
    ({ submits }, { to }) => void submits.push(...submits.filter(({ destination }) => destination === to)),
  ],
  [
    'a segment that went out again after silence',
    ({ submits }, { to }) => {
      const [submit] = submits.filter(({ destination }) => destination === to)
      if (submit) submits.unshift({ ...submit, status: 'silent' })
    },
  ],
  ['a receipt that was answered and is not there', ({ receipts }) => receipts.clear()],
])('the audit finds %s', async ([, spoil]) => {
  const books = await readBooks(lane, [ids.get('0001') ?? ''])
  expect(audit(books)).toEqual([])
  for (const message of books.messages) spoil(books, message)
  expect(audit(books)).toHaveLength(1)
})
