/**
 * The carriers that a message may go to, as parts of statements over messages m, carriers c and `ourSenders` s: those of its chain in its
 * order, or, of a message without one (the default route), all, best first; where it has a sender, those at which its account can
 * send from it now, for a number that was given up may be somebody else's, and one that only receives is no sender.
 * A test message goes to the carrier of test mode whatever its chain says, and nothing else goes there: this line is what keeps them apart,
 * because every claim and every change of carrier reads it.
 */

/** The message's sender, and the carriers at which it can send, as s; by senders (account_id, number). */
export const ourSenders = `left join lateral (
      select min(pace) as pace, array_agg(carrier_id) filter (where 'sms' = any (capabilities)) as carrier_ids
      from senders
      where account_id = m.account_id and number = m.our_number
    ) s on true`

/** Whether a carrier is one of them. */
export const isInChain = `(c.is_test = m.is_test
  and (m.is_test
    or ((m.chain is null or c.id = any (m.chain)) and (m.our_number is null or c.id = any (s.carrier_ids)))))`

/** Their order. */
export const chainOrder = 'array_position(m.chain, c.id), c.priority, c.id'
