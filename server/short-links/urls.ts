/** Finds web addresses in a text as a reader sees them: without the punctuation of the sentence. */

/** Its place is in UTF-16 units. */
export interface FoundUrl {
  url: string
  start: number
  end: number
}

// Characters of an address: visible ASCII except quotes, angle brackets and backslash, and letters, marks and digits of any script. An
// emoji ends an address, even one that counts as a letter or is joined by selectors.
const characters = /(?:(?![\uFE00-\uFE0F\p{Extended_Pictographic}])[!#-;=?-[\]^-~\p{L}\p{Mn}\p{Mc}\p{N}])+/iuy
const scheme = /(?<![a-z0-9@+])https?:\/\//giu
const host = /^https?:\/\/[\p{L}\p{N}][\p{L}\p{Mn}\p{Mc}\p{N}_.-]*/iu
const port = /^:\d+/
// No top-level domain mixes ASCII with a non-Latin script: `example.com` ends where a Chinese sentence continues.
const sentenceAfterHost = /(?<=\.[a-z]{2,63})[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}][^.]*$/iu
// A list without blanks is several addresses. Other nested addresses belong to the outer one: archives and logins have them.
const nextInList = /[,;|]https?:\/\//i
const sentenceEnd = new Set(".,:;!?'")
const openerOf: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Finds http and https addresses, in order, in linear time except for lists. Skips addresses with a user name. */
export function findUrls(text: string): FoundUrl[] {
  const found: FoundUrl[] = []
  let runEnd = 0
  scheme.lastIndex = 0
  for (let match = scheme.exec(text); match; match = scheme.exec(text)) {
    // One run can hold many addresses: searching its end from each would be quadratic.
    if (scheme.lastIndex >= runEnd) {
      characters.lastIndex = scheme.lastIndex
      if (!characters.test(text)) continue
      runEnd = characters.lastIndex
    }
    const start = match.index
    const url = cutUrl(text.slice(start, runEnd))
    const end = url === null ? runEnd : start + url.length
    if (url !== null) found.push({ url, start, end })
    scheme.lastIndex = end
  }
  return found
}

function cutUrl(run: string): string | null {
  const [authority = ''] = /^https?:\/\/[^/?#]*/i.exec(run) ?? []
  // A user name makes the address look like another site: do not hide it behind a short link.
  if (authority.includes('@')) return null
  const name = host.exec(run)?.[0].replace(sentenceAfterHost, '')
  if (name === undefined) return null
  const origin = name + (port.exec(run.slice(name.length))?.[0] ?? '')
  const rest = run.slice(origin.length)
  const path = /^[/?#]/.test(rest) ? (rest.split(nextInList, 1)[0] ?? '') : ''
  const url = trimSentence(origin + path)
  return URL.canParse(url) ? url : null
}

/** Removes a final full stop, and a bracket opened before the address. */
function trimSentence(url: string): string {
  const count = (character: string): number => url.split(character).length - 1
  const surplus: Record<string, number> = {}
  for (const [closer, opener] of Object.entries(openerOf)) surplus[closer] = count(closer) - count(opener)
  let end = url.length
  for (; end > 0; end--) {
    const last = url[end - 1] ?? ''
    if (sentenceEnd.has(last)) continue
    const more = surplus[last] ?? 0
    if (more <= 0) break
    surplus[last] = more - 1
  }
  return url.slice(0, end)
}
