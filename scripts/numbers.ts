/** Compiles libphonenumber's tables; with --check, fails if the committed files differ. */
import { readFileSync, writeFileSync } from 'node:fs'
import { renderPlans } from '../server/ground/numbers/compile.ts'
import { renderTypes } from '../server/ground/numbers/compile-types.ts'
import { renderZones } from '../server/quiet-hours/zone-compile.ts'
import { readOptions } from './options.ts'

const usage = `npm run numbers [-- --check]
Writes the plans of numbers, their types and their time zones from libphonenumber's tables; with --check, fails where the committed ones differ.`
const { check: isCheck } = readOptions(usage, { check: { type: 'boolean', default: false } })

const texts = {
  'ground/numbers/plans.ts': renderPlans(),
  'ground/numbers/types.ts': renderTypes(),
  'quiet-hours/zone-plans.ts': renderZones(),
}
for (const [name, text] of Object.entries(texts)) {
  const file = new URL(`../server/${name}`, import.meta.url)
  if (!isCheck) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`server/${name} is not what the library's tables say. Run: npm run numbers`)
    process.exitCode = 1
  }
}
