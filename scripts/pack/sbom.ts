/** The components of a release (CycloneDX), for scanners and for checking advisories. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle, Part } from './bundled.ts'

interface Component {
  'bom-ref': string
  type?: string
  name?: string
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

/**
 * `npm sbom` of the lock file, without the binaries for other machines, which are not in `modules`, and with the programs and libraries inside
 * those for this one. Includes the built console's packages. The same release gives the same text: the time is given, and the serial number comes
 * from the contents.
 */
export function writeBom(fromNpm: string, modules: string, bundles: Bundle[], at: Date): string {
  const bom = JSON.parse(fromNpm) as Bom
  const nameOf = (one: Component): string => one['bom-ref'].replace(/(?<=.)@.*/, '')
  bom.components = bom.components.filter((one) => one.scope !== 'optional' || existsSync(join(modules, nameOf(one))))
  const refs = new Set(bom.components.map((one) => one['bom-ref']))
  bom.dependencies = bom.dependencies
    .filter(({ ref }, i) => i === 0 || refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
  for (const bundle of bundles) {
    const holder = bom.components.find((one) => nameOf(one) === bundle.from)
    if (!holder) throw new Error(`npm lists no ${bundle.from}`)
    const program = describe(bundle.from, 'application', bundle.program)
    const libraries = bundle.libraries.map((part) => describe(bundle.from, 'library', part))
    bom.components.push(program, ...libraries)
    const refsOf = (components: Component[]): string[] => components.map((one) => one['bom-ref'])
    bom.dependencies = bom.dependencies.filter(({ ref }) => ref !== holder['bom-ref'])
    bom.dependencies.push({ ref: holder['bom-ref'], dependsOn: refsOf([program]) })
    bom.dependencies.push({ ref: program['bom-ref'], dependsOn: refsOf(libraries) })
  }
  bom.metadata.component.name = 'heliogram'
  bom.metadata.timestamp = at.toISOString()
  const hash = createHash('sha256').update(JSON.stringify(bom.components)).digest('hex')
  bom.serialNumber = `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
  return `${JSON.stringify(bom, null, 2)}\n`
}

const describe = (from: string, type: string, { name, version, product }: Part): Component => ({
  'bom-ref': `${from}/${name}@${version}`,
  type,
  name,
  version,
  cpe: `cpe:2.3:a:${product}:${version}:*:*:*:*:*:*:*`,
})
