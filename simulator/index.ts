/** A carrier to dial, for tests, benchmarks and demonstrations. */
export { FATES, fateOf, ORDINARY, type Fate } from './fates.ts'
export type { Mischief } from './mischief.ts'
export type { Faults, IdFormat, SimulatorOptions } from './options.ts'
export type { PhoneMessage, PhoneSummary } from './phones.ts'
export type { Range } from './range.ts'
export { PortError, Simulator, type Stats } from './simulator.ts'
export type { LedgerEntry } from './stats.ts'
