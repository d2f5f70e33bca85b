/** For tests: a process that holds a data folder (its argument) and its server until SIGTERM, printing where it is as JSON. */
import { startEmbedded } from './embedded.ts'
import { lockDataDir } from '../lock.ts'
import { prepareDataDir } from './place.ts'

const log = { info: () => {}, warn: console.error, error: console.error }
const dataDir = await prepareDataDir(process.argv[2] ?? '')
const lock = await lockDataDir(dataDir)
const { connection, adopted, dataPath, close } = await startEmbedded({ dataDir, log })
console.log(JSON.stringify({ connection, adopted, dataPath }))
const alive = setInterval(() => {}, 60_000)
process.once('SIGTERM', () => {
  clearInterval(alive)
  void close().then(() => lock.release())
})
