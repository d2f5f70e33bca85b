/** Statements of the application during a request, and their plans. */
import { Client } from 'pg'
import type { Db } from '../server/ground/db/db.ts'

export interface Asked {
  text: string
  values: unknown[]
}

/** Records the statements of all connections of this process, pools and transactions included; call it before the first is opened. */
export function watchQueries(): {
  record<T>(work: () => Promise<T>): Promise<{ result: T; asked: Asked[] }>
  end(): void
} {
  let asked: Asked[] | null = null
  const prototype = Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  const { query } = prototype
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [first, second] = args
    const statement = typeof first === 'string' ? { text: first, values: second } : (first as Partial<Asked>)
    if (typeof statement.text === 'string')
      asked?.push({ text: statement.text, values: Array.isArray(statement.values) ? statement.values : [] })
    return query.apply(this, args)
  }
  return {
    async record(work) {
      const mine: Asked[] = (asked = [])
      try {
        return { result: await work(), asked: mine }
      } finally {
        asked = null
      }
    },
    end() {
      prototype.query = query
    },
  }
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: PlanNode[]
}

export interface Cost {
  pages: number
  /** Operations that no list may do. */
  faults: string[]
  indexes: string[]
}

const smallRows = 1000
/** Most sorted rows: ids of a window of outcomes of each status. */
const sortedMax = 7000

export async function explain(db: Db, { text, values }: Asked, rowsOf: Map<string, number>): Promise<Cost> {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  )
  const plan = rows[0]?.['QUERY PLAN'][0].Plan
  if (!plan) throw new Error('no plan')
  const cost: Cost = {
    pages: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
    faults: [],
    indexes: [],
  }
  look(plan, cost, rowsOf)
  return cost
}

function look(node: PlanNode, cost: Cost, rowsOf: Map<string, number>): void {
  const { 'Node Type': type, 'Relation Name': relation = '', 'Index Name': index } = node
  if (index) cost.indexes.push(index)
  if (type === 'Seq Scan' && (rowsOf.get(relation) ?? 0) > smallRows && node['Actual Loops'] > 0)
    cost.faults.push(`reads all of ${relation}`)
  const inputs = node.Plans ?? []
  if (/Sort|Hash/.test(type)) {
    const sorted = inputs.reduce((sum, input) => sum + input['Actual Rows'] * input['Actual Loops'], 0)
    if (sorted > sortedMax) cost.faults.push(`${type} of ${sorted} rows`)
  }
  for (const input of inputs) look(input, cost, rowsOf)
}

export async function readTableRows(db: Db): Promise<Map<string, number>> {
  const { rows } = await db.query<{ name: string; rows: number }>(
    `select relname as name, reltuples::float8 as rows from pg_class where relkind = 'r'`,
  )
  return new Map(rows.map((row) => [row.name, row.rows]))
}
