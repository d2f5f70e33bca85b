/** Two sides measured in turns: on a shared machine only ratios of adjacent runs hold. */
import { quantile } from './tally.ts'

export type Side = 'ours' | 'theirs'

export type Pair<Result> = Record<Side, Result>

/** One line of the report: medians of both sides, and each pair's ratio, above 1 if we are better. */
export type Comparison = {
  what: string
  unit: string
  /** The ratio to reach; empty if there is none. */
  goal: string
  ours: number
  theirs: number
  ratios: number[]
}

/** Runs both sides `pairs` times; they take turns at going first. */
export async function runInTurns<Result>(pairs: number, run: (side: Side) => Promise<Result>): Promise<Pair<Result>[]> {
  const results: Pair<Result>[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const first = pair % 2 === 0 ? await run('ours') : undefined
    const theirs = await run('theirs')
    results.push({ ours: first ?? (await run('ours')), theirs })
  }
  return results
}

export function compare<Result>(
  pairs: Pair<Result>[],
  line: { what: string; unit: string; goal?: string; better: 'more' | 'less' },
  read: (result: Result) => number,
): Comparison {
  const { what, unit, goal = '', better } = line
  return {
    what,
    unit,
    goal,
    ours: quantile(
      pairs.map((pair) => read(pair.ours)),
      0.5,
    ),
    theirs: quantile(
      pairs.map((pair) => read(pair.theirs)),
      0.5,
    ),
    ratios: pairs.map(({ ours, theirs }) =>
      better === 'more' ? read(ours) / read(theirs) : read(theirs) / read(ours),
    ),
  }
}
