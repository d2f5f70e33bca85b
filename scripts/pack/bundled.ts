/** The libraries inside Node.js and PostgreSQL with their versions, which npm cannot list. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'

export interface Bundle {
  from: string
  program: Part
  libraries: Part[]
}

/** Name, version, and the vendor and product in advisories. */
export interface Part {
  name: string
  version: string
  product: string
}

/** The libraries in process.versions whose advisories concern our use of Node.js. */
const librariesOfNode: Record<string, [name: string, product: string]> = {
  ares: ['c-ares', 'c-ares:c-ares'],
  brotli: ['brotli', 'google:brotli'],
  icu: ['icu', 'icu-project:international_components_for_unicode'],
  llhttp: ['llhttp', 'llhttp:llhttp'],
  nghttp2: ['nghttp2', 'nghttp2:nghttp2'],
  openssl: ['openssl', 'openssl:openssl'],
  sqlite: ['sqlite', 'sqlite:sqlite'],
  undici: ['undici', 'nodejs:undici'],
  uv: ['libuv', 'libuv:libuv'],
  v8: ['v8', 'google:v8'],
  zlib: ['zlib', 'zlib:zlib'],
  zstd: ['zstd', 'facebook:zstandard'],
}

/** Asks a Node.js, which must run here; builds for other machines have the same versions. `from`: its npm package. */
export async function readNode(program: string, from: string): Promise<Bundle> {
  const versions = JSON.parse(await run(program, ['-p', 'JSON.stringify(process.versions)'], '/')) as Record<
    string,
    string
  >
  const libraries = Object.entries(librariesOfNode).flatMap(([key, [name, product]]) => {
    // Chromium's zlib has a suffix.
    const version = versions[key]?.replace(/-.*/, '')
    return version ? [{ name, version, product }] : []
  })
  return { from, program: { name: 'node', version: versions['node'] ?? '', product: 'nodejs:node.js' }, libraries }
}

const librariesOfPostgres: [name: string, product: string, file: RegExp, text: RegExp][] = [
  ['openssl', 'openssl:openssl', /^libcrypto\.so/, /OpenSSL (\d[\w.]+) +\d+ [A-Z][a-z]{2} \d{4}/],
  ['zlib', 'zlib:zlib', /^libz\.so/, / deflate ([\d.]+) Copyright/],
]

/** Reads the PostgreSQL package in a release's modules, which may be for another machine. */
export function readPostgres(modules: string, from: string): Bundle {
  const native = join(modules, from, 'native')
  const files = readdirSync(join(native, 'lib'))
  const libraries = librariesOfPostgres.map(([name, product, pattern, text]) => {
    const file = files.find((one) => pattern.test(one)) ?? ''
    return { name, version: find(join(native, 'lib', file), text), product }
  })
  const [, icu] = files.map((one) => /^libicuuc\.so\.([\d.]+)$/.exec(one)).find(Boolean) ?? []
  if (icu === undefined) throw new Error(`${from} has no ICU`)
  const product = 'icu-project:international_components_for_unicode'
  const version = find(join(native, 'bin/postgres'), /PostgreSQL (\d+\.\d+) on /)
  return {
    from,
    program: { name: 'postgresql', version, product: 'postgresql:postgresql' },
    libraries: [...libraries, { name: 'icu', version: icu, product }],
  }
}

function find(file: string, text: RegExp): string {
  const [, version] = text.exec(readFileSync(file, 'latin1')) ?? []
  if (version === undefined) throw new Error(`${file} does not say its version`)
  return version
}
