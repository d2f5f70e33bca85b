import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'

export interface Asset {
  readonly type: string
  readonly bytes: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By path; the page itself is `/`. They are few and small, so they stay in memory. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const folder = new URL('./phones/', import.meta.url)
  const assets = new Map<string, Asset>()
  for (const name of readdirSync(folder)) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    assets.set(name === 'index.html' ? '/' : `/page/${name}`, { type, bytes: readFileSync(new URL(name, folder)) })
  }
  return assets
}
