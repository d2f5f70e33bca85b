/** By supported line, the version with the fixes of 2026-10-21 (CVE-2026-111497 and others). Check it at each release. */
const fixedIn: Record<number, [minor: number, patch: number]> = { 24: [22, 1], 26: [12, 1] }
const newest = 26

/** The version that fixes an outdated one; null: it has the fixes, or is newer than we know. */
export function findFixedNode(version: string): string | null {
  const [major = 0, minor = 0, patch = 0] = version.replace(/^v/, '').split('.').map(Number)
  if (major > newest) return null
  const line = fixedIn[major] ? major : newest
  const [fixedMinor, fixedPatch] = fixedIn[line] ?? [0, 0]
  const isFixed = major === line && (minor > fixedMinor || (minor === fixedMinor && patch >= fixedPatch))
  return isFixed ? null : `${line}.${fixedMinor}.${fixedPatch}`
}
