/** Names of our fields in other services: not similar in letters, but known. */

// Each row is one meaning, our likeliest name first; in lower case without separators.
const things: readonly (readonly string[])[] = [
  [
    'to',
    'phonenumber',
    'number',
    'phone',
    'recipient',
    'recipients',
    'recipientnumber',
    'msisdn',
    'mobile',
    'destination',
    'tonumber',
  ],
  ['message', 'body', 'text', 'content', 'messagetext', 'messagebody', 'sms'],
  ['from', 'sender', 'senderid', 'originator', 'source', 'fromnumber'],
  ['email', 'username', 'user', 'login', 'emailaddress'],
  ['senderpool', 'messagingservicesid', 'messagingprofileid', 'poolid'],
  [
    'callbackurl',
    'url',
    'statuscallback',
    'statuscallbackurl',
    'webhook',
    'webhookurl',
    'notifyurl',
    'dlrurl',
    'deliveryreporturl',
  ],
  [
    'sendat',
    'sendtime',
    'scheduledat',
    'scheduledfor',
    'scheduledatetime',
    'scheduleddatetime',
    'scheduledtime',
    'scheduletime',
    'deliverat',
  ],
  ['validityperiod', 'validity', 'ttl', 'timetolive'],
  ['externalid', 'contactid', 'customerid'],
  ['metadata', 'clientref', 'clientreference', 'customdata'],
  ['limit', 'pagesize', 'perpage', 'maxresults', 'count'],
  ['cursor', 'pagetoken', 'startingafter', 'after', 'page', 'offset'],
  ['createdafter', 'from', 'since', 'startdate', 'starttime', 'datefrom', 'datesentafter'],
  ['createdbefore', 'to', 'until', 'enddate', 'endtime', 'dateto', 'datesentbefore'],
]

/** Our name for a field of another service, if known. */
export function meantBy(name: string, known: readonly string[]): string | undefined {
  const word = plain(name)
  for (const thing of things) {
    if (!thing.includes(word)) continue
    for (const ours of thing) {
      const meant = known.find((one) => plain(one) === ours)
      if (meant !== undefined) return meant
    }
  }
  return undefined
}

/** Lower case without separators, so that `sendAt`, `send-at` and `send_at` are equal. */
export const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
