/** Where the numbers of a campaign are probably from. */
import type { Caller } from '../ground/http/http.ts'

/** A campaign with the country that its numbers are probably of: its own, else the account's. */
export const withCountry = <T extends { defaultCountry: string | null }>(campaign: T, caller: Caller): T =>
  campaign.defaultCountry === null ? { ...campaign, defaultCountry: caller.defaultCountry ?? null } : campaign
