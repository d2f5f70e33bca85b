/** Web addresses in a text, as a person reads them: without the punctuation of the sentence around them. */

/** An address and where it stands, in UTF-16 units. */
export interface FoundUrl {
  url: string
  start: number
  end: number
}

// What may stand in an address: visible ASCII but for quotes, angle brackets and backslash, and the letters, marks and digits of any
// script. Not pictures: an emoji ends an address, also those that count as letters or are joined by selectors.
const characters = /(?:(?![\uFE00-\uFE0F\p{Extended_Pictographic}])[!#-;=?-[\]^-~\p{L}\p{Mn}\p{Mc}\p{N}])+/iuy
const scheme = /(?<![a-z0-9@+])https?:\/\//giu
const host = /^https?:\/\/[\p{L}\p{N}][\p{L}\p{Mn}\p{Mc}\p{N}_.-]*/iu
const port = /^:\d+/
// No top-level domain mixes ASCII with another script than Latin: `example.com` is over where a Chinese sentence goes on.
const sentenceAfterHost = /(?<=\.[a-z]{2,63})[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}][^.]*$/iu
// A list without blanks is several addresses. Other addresses inside one are its own: archives and logins have them.
const nextInList = /[,;|]https?:\/\//i
const sentenceEnd = new Set(".,:;!?'")
const openerOf: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Finds the http and https addresses of a text, in order; linear time but for lists. Addresses with a user name are left alone. */
export function findUrls(text: string): FoundUrl[] {
  const found: FoundUrl[] = []
  let runEnd = 0
  scheme.lastIndex = 0
  for (let match = scheme.exec(text); match; match = scheme.exec(text)) {
    // Behind an address the same run may go on: to look for its end from each would take as long as all of them together.
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

/** The address with which a run of characters begins; null where it is none. */
function cutUrl(run: string): string | null {
  const [authority = ''] = /^https?:\/\/[^/?#]*/i.exec(run) ?? []
  // Who it seems to be from and where it goes differ: nothing to be hidden behind a short link.
  if (authority.includes('@')) return null
  const name = host.exec(run)?.[0].replace(sentenceAfterHost, '')
  if (name === undefined) return null
  const origin = name + (port.exec(run.slice(name.length))?.[0] ?? '')
  const rest = run.slice(origin.length)
  const path = /^[/?#]/.test(rest) ? (rest.split(nextInList, 1)[0] ?? '') : ''
  const url = trimSentence(origin + path)
  return URL.canParse(url) ? url : null
}

/** Without the full stop, and without the bracket that was opened before the address. */
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
