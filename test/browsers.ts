import type { Browser } from 'playwright-core'

/** Those that run. */
export const browsers = new Set<Browser>()
