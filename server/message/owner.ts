/** Finds the owner of a reply: the account that has our number at the carrier. */
import type { Tx } from '../ground/db/db.ts'
import { planOfCountry } from '../ground/numbers/plan.ts'
import { countryOf, currentNumber } from '../ground/numbers/number.ts'
import { countryOfSender } from '../ground/numbers/sender.ts'
import { codesOfPeople, isOfPeople } from '../ground/numbers/type.ts'
import { completeNumber, parseNumber } from '../ground/numbers/written.ts'

interface Asked {
  linkId: string
  source: string
  destination: string
}

export interface Owner {
  accountId: string
  name: string
  /** It came from the carrier of test mode, and answers a test message. */
  isTest: boolean
}

/** With the country that our number is registered for, else its carrier's, else the account's. */
interface RegisteredOwner extends Owner {
  registeredCountry: string | null
  otherCountry: string | null
}

/** The owner with our number as registered, and the person's with its country code. */
interface Owned {
  owner: Owner
  number: string
  person: string
}

/**
 * The account that owns our number at the link's carrier, else null: never guessed from earlier messages. At the carrier of test mode all accounts
 * have all their numbers; there the owner is the last that wrote to this phone, or the only one with the number. An unknown number may be another
 * spelling of a known one. Also null if the person's number is ambiguous. By senders (number, carrier_id) and the index messages_their_number.
 */
export async function findOwner(tx: Tx, reply: Asked): Promise<Owned | null> {
  const exact = await findExactOwner(tx, reply)
  const number = exact ? reply.destination : await findSpelled(tx, reply)
  if (number === null) return null
  const owner = exact ?? (await findExactOwner(tx, { ...reply, destination: number }))
  const person = owner && (await findPerson(tx, owner, { ...reply, destination: number }))
  return owner && person !== null ? { owner, number, person } : null
}

/**
 * The person's number with its country code, which carriers leave out: the reading that this sender wrote to, else the one in the country of the
 * sender, by its number or registration, else of the carrier, else of the account. Null if it has no country code and there is no such reading,
 * or several. Index messages_their_number, for ambiguous digits only.
 */
async function findPerson(
  tx: Tx,
  { accountId, isTest, registeredCountry, otherCountry }: RegisteredOwner,
  { source, destination }: Asked,
): Promise<string | null> {
  if (!/^\d+$/.test(source) || source.length < digitsMin) return source
  const isWhole = completeNumber(source) !== null
  const ownCountry = countryOfSender(destination)
  const country = ownCountry ?? registeredCountry ?? otherCountry
  const national = country && parseNumber(source, country)
  if (isWhole && country && (national === null || national === source)) return source
  const readings =
    isWhole && country ? [source] : [source, ...codesOfPeople().map((code) => completeNumber(code + source))]
  const { rows } = await tx.query<{ number: string }>(
    `select one.number
     from unnest($2::text[]) as one (number)
     where exists (
       select from messages
       where account_id = $1 and their_number = one.number and our_number = $3 and direction = 'outbound' and is_test = $4)`,
    [accountId, [...new Set([national, ...readings])].filter((one) => one !== null), destination, isTest],
  )
  const asked = rows.map(({ number }) => number)
  if (isWhole && asked.includes(source)) return source
  if (asked.length === 1) return asked[0] ?? null
  // Phones of other countries do not reach a short code.
  const isNational =
    !isWhole || (ownCountry === null && isOfPeople(planOfCountry(country ?? '')?.code ?? '', national ?? ''))
  if (national && isNational && (asked.length === 0 || asked.includes(national))) return national
  if (asked.length > 0) return isWhole && country ? source : null
  // Others are service numbers, which are outside every numbering plan.
  return isWhole || (country && !source.startsWith('0')) ? source : null
}

async function findExactOwner(tx: Tx, reply: Asked): Promise<RegisteredOwner | null> {
  const { rows } = await tx.query<RegisteredOwner>({
    name: 'find-reply-owners',
    text: `
      select distinct a.id as "accountId", a.name, c.is_test as "isTest", s.country as "registeredCountry",
        coalesce(nullif(l.settings ->> 'country', ''), nullif(c.settings ->> 'country', ''), a.settings ->> 'default_country') as "otherCountry"
      from links l
      join carriers c on c.id = l.carrier_id
      join senders s on s.number = $2 and (s.carrier_id = c.id or c.is_test)
      join accounts a on a.id = s.account_id
      where l.id = $1`,
    values: [reply.linkId, reply.destination],
  })
  const [owner] = rows
  const isShared = rows.some(({ accountId }) => accountId !== owner?.accountId)
  return isShared ? await findLastAsking(tx, rows, reply) : (owner ?? null)
}

/** The last asking account of those that use a number with simulated carriers. */
async function findLastAsking(
  tx: Tx,
  owners: readonly RegisteredOwner[],
  reply: Asked,
): Promise<RegisteredOwner | null> {
  const { rows } = await tx.query<{ accountId: string }>(
    `select a.id as "accountId"
     from unnest($1::uuid[]) as a (id)
     cross join lateral (
       select id
       from messages
       where account_id = a.id and their_number = $3 and our_number = $2 and direction = 'outbound' and is_test
       order by id desc
       limit 1
     ) last
     order by last.id desc
     limit 1`,
    [owners.map(({ accountId }) => accountId), reply.destination, reply.source],
  )
  return owners.find(({ accountId, isTest }) => isTest && accountId === rows[0]?.accountId) ?? null
}

// A shorter number is a short code, which has one spelling.
const digitsMin = 7

/**
 * The one sender at the link's carrier in another spelling: its national form, with or without a trunk prefix; the form from before or after its
 * country renumbered; or itself followed by digits that invalidate it, which carriers append for services. Null if there is none, or more than one.
 * Reads all senders of the carrier, for replies to unknown numbers only.
 */
async function findSpelled(tx: Tx, { linkId, destination }: Asked): Promise<string | null> {
  if (!/^\d+$/.test(destination) || destination.length < digitsMin) return null
  const { rows } = await tx.query<{ number: string }>(
    `select distinct s.number
     from links l
     join senders s on s.carrier_id = l.carrier_id
     where l.id = $1
       and s.number ~ '^[0-9]{8,15}$'
       and (right(s.number, 6) = right($2, 6) or starts_with($2, s.number))
     limit 100`,
    [linkId, destination],
  )
  const isNumber = parseNumber(`+${destination}`) !== null
  const spelled = rows.filter(({ number }) => {
    const country = countryOf(number)
    if (country !== null && parseNumber(destination, country) === currentNumber(number)) return true
    return !isNumber && destination.startsWith(number)
  })
  return spelled.length === 1 ? (spelled[0]?.number ?? null) : null
}
