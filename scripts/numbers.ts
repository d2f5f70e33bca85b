/** Writes server/messages/number-plans.ts from libphonenumber's metadata; with --check, fails where the committed one differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { renderPlans } from '../server/messages/number-compile.ts'

const file = new URL('../server/messages/number-plans.ts', import.meta.url)
const text = renderPlans()
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error("server/messages/number-plans.ts is not what the library's metadata say. Run: npm run numbers")
  process.exitCode = 1
}
