/** A broadcast has no name of its own: its text tells it apart. */

const longest = 50

/** The beginning of a text, with fallbacks and names of fields instead of its tags. */
export function titleOf(text: string): string {
  const plain = text
    .replace(/\{\{\s*([^|}]*?)\s*(?:\|([^}]*))?\}\}/g, (_, name: string, filters: string = '') => {
      const fallback = /default:\s*(?:"([^"]*)"|'([^']*)')/.exec(filters)
      return fallback ? (fallback[1] ?? fallback[2] ?? '') : `[${name.replaceAll('_', ' ')}]`
    })
    .replace(/\s+/g, ' ')
    .trim()
  if (plain.length <= longest) return plain || 'Broadcast'
  const cut = plain.slice(0, longest)
  const space = cut.lastIndexOf(' ')
  return `${(space > longest / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.–-]+$/, '')}…`
}
