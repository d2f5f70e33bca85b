/**
 * The carriers that a message may go to, as parts of statements over messages m, carriers c and `ourSenders` s: those of its chain in its
 * order, or, of a message without one (the default route), all, best first; where it has a sender, those at which its account can
 * send from it to the recipient now, for a number that was given up may be somebody else's, and one that only receives is no sender.
 * A test message always goes to the carrier of test mode, and nothing else goes there: this line is what keeps them apart,
 * because every claim and every change of carrier reads it.
 */

/**
 * Whether a sender can be used for a message, the same as accept says of it (`faultOf` in senders/sender.ts): a short code or toll-free
 * number reaches its country, unless it is international. Names are not looked at: one is the same at every carrier. An answer to a keyword
 * goes where its question came from.
 */
export const canBeUsed = (s: string, m: string): string => `('sms' = any (${s}.capabilities)
        and (${s}.kind in ('long_code', 'alphanumeric')
          or ${s}.country is null
          or ${s}.country = ${m}.country
          or 'international' = any (${s}.capabilities)
          or (${s}.kind = 'toll_free' and ${s}.country in ('US', 'CA', 'PR') and ${m}.country in ('US', 'CA', 'PR'))
          or ${m}.is_confirmation))`

/** The message's sender, and the carriers at which it can be used, as s; by senders (account_id, number). */
export const ourSenders = `left join lateral (
      select min(o.pace) as pace, array_agg(o.carrier_id) filter (where ${canBeUsed('o', 'm')}) as carrier_ids
      from senders o
      where o.account_id = m.account_id and o.number = m.our_number
    ) s on true`

/** Whether a carrier is one of them. */
export const isInChain = `(c.is_test = m.is_test
  and (m.is_test
    or ((m.chain is null or c.id = any (m.chain)) and (m.our_number is null or c.id = any (s.carrier_ids)))))`

/** Their order. */
export const chainOrder = 'array_position(m.chain, c.id), c.priority, c.id'
