import type { Side } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { startDatabase, type BenchDatabase } from './database.ts'
import { kannel } from './kannel.ts'
import type { Product, Running } from './product.ts'
import { startStage, stopStage, type Stage } from './run.ts'

export async function besideKannel<T>(
  create: (database: BenchDatabase) => Product,
  work: (stage: Stage, products: Record<Side, Running>) => Promise<T>,
): Promise<T> {
  const database = await startDatabase()
  const stage = await startStage()
  const started: Running[] = []
  try {
    const ours = await create(database).start(stage.ends)
    started.push(ours)
    const theirs = await kannel.start(stage.ends)
    started.push(theirs)
    for (const { rootPids } of started) moveProduct(rootPids)
    return await work(stage, { ours, theirs })
  } finally {
    for (const running of started.reverse()) await running.stop()
    await stopStage(stage)
    await database.stop()
  }
}
