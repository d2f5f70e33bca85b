/**
 * SQL of the carriers that a message may use, for statements over messages m, carriers c and `ourSenders` s: its chain in order or, without
 * one (the default route), all carriers, best first. A message with a sender needs a carrier at which its account can use the sender for
 * the recipient now, because a released number may belong to another account, and receive-only numbers cannot send. Test messages always go
 * to the carrier of test mode, and no others do: every claim and every change of carrier relies on this line.
 */

/**
 * Whether a sender can be used for a message, as accept decides (`faultOf` in senders/sender.ts): a short code or toll-free number reaches
 * only its country, unless it is international. Names are not checked: one is the same at every carrier. Answers to keywords always use the
 * number of the reply.
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

export const isInChain = `(c.is_test = m.is_test
  and (m.is_test
    or ((m.chain is null or c.id = any (m.chain)) and (m.our_number is null or c.id = any (s.carrier_ids)))))`

export const chainOrder = 'array_position(m.chain, c.id), c.priority, c.id'
