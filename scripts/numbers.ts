/** Writes what is compiled from libphonenumber's tables; with --check, fails where the committed files differ. */
import { readFileSync, writeFileSync } from 'node:fs'
import { renderPlans } from '../server/messages/number-compile.ts'
import { renderZones } from '../server/messages/zone-compile.ts'

const texts = { 'number-plans.ts': renderPlans(), 'zone-plans.ts': renderZones() }
for (const [name, text] of Object.entries(texts)) {
  const file = new URL(`../server/messages/${name}`, import.meta.url)
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`server/messages/${name} is not what the library's tables say. Run: npm run numbers`)
    process.exitCode = 1
  }
}
