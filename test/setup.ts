/** Runs before each test file, also in a worker that has run others. */
import { afterEach } from 'vitest'
import { browsers } from './browsers.ts'

// After a time-out the contents of the pages mostly explain the failure.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  const pages = [...browsers].flatMap((browser) => browser.contexts().flatMap((context) => context.pages()))
  for (const page of pages) {
    const shown = await page
      .locator('body')
      .ariaSnapshot({ timeout: 5000 })
      .catch((error: unknown) => String(error))
    console.error(`Shown when "${task.name}" failed, at ${page.url()}:\n${shown}`)
  }
})
