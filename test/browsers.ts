import type { Browser } from 'playwright-core'

export const browsers = new Set<Browser>()
