import type { Caller } from '../ground/http/http.ts'

/** The probable country of a campaign's numbers: its own, or else the account's. */
export const withCountry = <T extends { defaultCountry: string | null }>(campaign: T, caller: Caller): T =>
  campaign.defaultCountry === null ? { ...campaign, defaultCountry: caller.defaultCountry ?? null } : campaign
