/** What is done by the clock, and how often. */
import { pruneAudit } from '../ground/audit/retention.ts'
import { destroyNext, windUpAccounts } from '../accounts/closing.ts'
import { expireCredentials } from '../accounts/expire.ts'
import { forgetRecipients } from '../broadcasts/retention.ts'
import { cancelBroadcastsOf, cancelImportsOf, deleteCampaignsOf, deleteContactsOf } from '../broadcasts/close.ts'
import { campaignSteps } from '../campaigns/erase.ts'
import { forgetImportRows } from '../imports/retention.ts'
import { watchLinks, watchOrphans, watchSenders, watchWebhooks } from '../live/alerts.ts'
import { deletePoolsOf } from '../carriers/close.ts'
import { carrierStep } from '../carriers/erase.ts'
import { saveEveryMs, saveLive } from '../live/live.ts'
import { forgetAffinities } from '../senders/pool-store.ts'
import type { ReceiveContext } from '../inbound/context.ts'
import { notingMs } from '../inbound/redelivery.ts'
import { joinLateParts } from '../inbound/reply-join.ts'
import { followIdForms } from '../doctor/rekey.ts'
import type { Submitter } from '../links/submit.ts'
import { now } from '../ground/db/clock.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { inTurn } from '../ground/db/in-turn.ts'
import type { Log } from '../ground/db/log.ts'
import { ensurePartitions, learnDays } from '../ground/db/partitions.ts'
import { followGrowth } from '../ground/db/statistics.ts'
import type { Disk } from './disk.ts'
import { deleteKeysOf } from '../privacy/idempotency-erase.ts'
import { forgetBacklogs } from '../queue/backlogs.ts'
import { expireMessages, queueDue } from '../queue/due.ts'
import { cancelMessagesOf, deleteWordsOf } from '../messages/close.ts'
import { eraseNext } from '../privacy/erase.ts'
import { giveOrphans, orphanStep } from '../inbound/orphans.ts'
import { messageSteps } from '../privacy/erase-messages.ts'
import { recordMoves } from '../message/moved.ts'
import { forgetWindows } from '../guards/stops.ts'
import { watchReceipts } from '../ledger/no-receipt.ts'
import { forgetNumbers } from '../opt-outs/opt-out.ts'
import { releaseHeld } from '../quiet-hours/hold.ts'
import { matchOrphans } from '../ledger/receipt.ts'
import { discardDue } from '../privacy/redact-later.ts'
import { resealNext } from '../privacy/reseal.ts'
import { resealContacts } from '../campaigns/reseal.ts'
import { resolveUnknown } from '../ledger/resend.ts'
import { forgetExpired } from '../privacy/retention.ts'
import { markAccounts, retainNext } from '../privacy/retention-account.ts'
import { dropOldDays, forgetTraces, readLongest } from '../privacy/retention-days.ts'
import { foldTallies } from '../usage/fold.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import type { OpenFiles } from './open-files.ts'
import type { Pipeline } from './pipeline.ts'
import { deleteClientsOf } from '../smpp-server/close.ts'
import { clientStep } from '../smpp-server/erase.ts'
import { forAWhile, untilDone, type Sweep } from '../ground/base/sweeps.ts'
import { deleteTwilioCredentialsOf } from '../twilio/credential.ts'
import { deleteEndpointsOf, stopWebhooksOf } from '../webhooks/close.ts'
import { deleteAttempts, forgetAnswers } from '../webhooks/erase.ts'
import { feedReplays, forgetReplays } from '../webhooks/replays.ts'

const hourMs = 3_600_000

/** What goes with an account that is destroyed; what waits for an endpoint or a client before that. */
const destroyPieces = [
  deleteContactsOf,
  deleteKeysOf,
  deleteCampaignsOf,
  deleteEndpointsOf,
  deleteClientsOf,
  deleteTwilioCredentialsOf,
  deleteWordsOf,
  deletePoolsOf,
]

/** Looks at what this machine has left for this process. */
export function machineSweeps(disk: Disk | null, openFiles: OpenFiles): Sweep[] {
  return [
    ...(disk ? [{ name: 'room on the disk', everyMs: 10_000, run: () => disk.look() }] : []),
    { name: 'open files', everyMs: 10_000, run: () => openFiles.look() },
  ]
}

/** Sweeps of every process. */
export function ownSweeps(db: Db, nodeId: string, meter: Meter): Sweep[] {
  return [
    { name: 'live numbers', everyMs: saveEveryMs, run: () => saveLive(db, nodeId, meter) },
    // Made a week ahead, by processes with the role `jobs`.
    { name: 'days that others have made', everyMs: hourMs, run: () => learnDays(db) },
  ]
}

/** Sweeps of a process that holds links. */
export function linkSweeps(receiving: ReceiveContext, submitter: Submitter): Sweep[] {
  return [
    { name: 'lost answers to replies', everyMs: notingMs, run: () => receiving.redeliveries.noteLost(receiving.db) },
    { name: 'late parts of replies', everyMs: 5000, run: (isOver) => joinLateParts(receiving, isOver) },
    { name: 'stranded intents', everyMs: 2000, run: () => submitter.releaseStranded() },
  ]
}

/** Sweeps of a process with the role `jobs`. */
export function jobSweeps(pipeline: Pipeline, log: Log, receiptTimeoutHours: number, wake: () => void): Sweep[] {
  const { db, outbox } = pipeline
  const endLate = watchReceipts(pipeline, receiptTimeoutHours)
  const { first, last } = messageSteps({ ...pipeline, forgetAnswers })
  const eraseSteps = [...first, ...campaignSteps, carrierStep, orphanStep, clientStep, ...last]
  return [
    // A second's delay of a scheduled message or a retry is the most that is noticed.
    {
      name: 'due messages',
      everyMs: 500,
      run: (isOver) =>
        untilDone(isOver, 1000, async (limit) => {
          const queued = await queueDue(db, limit)
          if (queued > 0) wake()
          return queued
        }),
    },
    {
      name: 'expired messages',
      everyMs: 1000,
      run: (isOver) => untilDone(isOver, 500, (limit) => expireMessages(pipeline, limit)),
    },
    {
      name: 'unmatched receipts',
      everyMs: 5000,
      run: (isOver) =>
        untilDone(isOver, 500, async (limit) => {
          const { postings, count } = await inTransaction(db, async (tx) => {
            const moved = await matchOrphans(tx, pipeline.reasons, limit)
            return { postings: await recordMoves(tx, moved, pipeline), count: moved.length }
          })
          outbox.offer(postings)
          return count
        }),
    },
    {
      name: 'replies to numbers that have an account now',
      everyMs: 5000,
      run: () => giveOrphans({ ...pipeline, wake }, 500, now()),
    },
    // Receipts are adopted within a second; what is sent again has waited for them.
    {
      name: 'unknown outcomes',
      everyMs: 1000,
      run: (isOver) => untilDone(isOver, 200, (limit) => resolveUnknown(pipeline, limit)),
    },
    {
      name: 'messages without a receipt',
      everyMs: 60_000,
      run: (isOver) => untilDone(isOver, 500, endLate),
    },
    { name: 'tallies', everyMs: 1000, run: (isOver) => untilDone(isOver, 5000, (limit) => foldTallies(db, limit)) },
    {
      name: 'changed quiet hours',
      everyMs: 5000,
      run: (isOver) => untilDone(isOver, 1000, (limit) => releaseHeld(db, limit)),
    },
    { name: 'id forms of links', everyMs: 1000, run: () => followIdForms(pipeline) },
    {
      name: 'sender affinities',
      everyMs: hourMs,
      run: (isOver) => untilDone(isOver, 1000, (limit) => forgetAffinities(db, limit)),
    },
    { name: 'alerts of links', everyMs: 2000, run: () => watchLinks(pipeline) },
    { name: 'alerts of webhooks', everyMs: 2000, run: () => watchWebhooks(pipeline) },
    { name: 'alerts of replies', everyMs: 5000, run: () => watchOrphans(pipeline) },
    { name: 'alerts of senders', everyMs: 15_000, run: () => watchSenders(pipeline) },
    { name: 'replays', everyMs: 500, run: () => feedReplays(db) },
    { name: 'replays that are over', everyMs: hourMs, run: () => forgetReplays(db) },
    {
      name: 'numbers to forget',
      everyMs: 10_000,
      run: (isOver) => untilDone(isOver, 100, (limit) => forgetNumbers(db, limit)),
    },
    {
      name: 'what is left of messages that are gone',
      everyMs: hourMs,
      run: (isOver) => untilDone(isOver, 5000, (limit) => forgetTraces(db, limit)),
    },
    {
      name: 'windows of guards',
      everyMs: 60_000,
      run: (isOver) => untilDone(isOver, 5000, (limit) => forgetWindows(db, limit)),
    },
    { name: 'statistics', everyMs: 1000, run: () => followGrowth(db) },
    {
      name: 'texts of messages that are over',
      everyMs: 2000,
      run: (isOver) => untilDone(isOver, 200, (limit) => discardDue(db, limit)),
    },
    { name: 'erasures', everyMs: 1000, run: () => forAWhile(5000, () => eraseNext(pipeline, eraseSteps)) },
    {
      name: 'retention of accounts',
      everyMs: 10_000,
      run: async () => {
        await markAccounts(db)
        await forAWhile(5000, () => retainNext(db, deleteAttempts))
      },
    },
    { name: 'parts of lanes that are empty', everyMs: hourMs, run: () => forgetBacklogs(db) },
    { name: 'recipients of broadcasts that are over', everyMs: hourMs, run: (isOver) => forgetRecipients(db, isOver) },
    {
      name: 'rows of imports that are over',
      everyMs: hourMs,
      run: (isOver) => untilDone(isOver, 5000, (limit) => forgetImportRows(db, limit)),
    },
    {
      name: 'partitions',
      everyMs: hourMs,
      run: async () => {
        await ensurePartitions(db, log)
        await dropOldDays(db, log, receiptTimeoutHours)
      },
    },
    { name: 'retired data keys', everyMs: 10_000, run: () => forAWhile(5000, () => resealNext(db, pipeline.keys)) },
    {
      name: 'contacts to seal',
      everyMs: 10_000,
      run: () => forAWhile(5000, () => resealContacts(db, pipeline.keys, pipeline.contactSeals)),
    },
    {
      name: 'closed accounts',
      everyMs: 2000,
      run: (isOver) => {
        const steps = [cancelBroadcastsOf, cancelImportsOf(pipeline), cancelMessagesOf(pipeline), stopWebhooksOf]
        const windUp = (): Promise<void> => windUpAccounts(db, outbox, steps, isOver)
        const destroy = (): Promise<void> => forAWhile(5000, () => destroyNext(db, destroyPieces))
        return inTurn([windUp, destroy], (work) => work())
      },
    },
    { name: 'audit log', everyMs: hourMs, run: () => pruneAudit(db) },
    { name: 'expired credentials', everyMs: hourMs, run: () => expireCredentials(db) },
    {
      name: 'retention',
      everyMs: hourMs,
      run: async (isOver) => forgetExpired(db, receiptTimeoutHours, (await readLongest(db)).messageDays, isOver),
    },
  ]
}
