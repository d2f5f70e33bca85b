/** Renders a page of the manual from Markdown to self-contained HTML, with links to pages of this server. */
import { posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import { escapeHtml } from './welcome.ts'

export interface ManualPage {
  /** Trusted: the sources are ours. */
  html: string
  /** Second-level headings. */
  sections: { id: string; title: string }[]
  /** Targets of its links, as in the HTML. */
  links: string[]
}

/**
 * `path` is relative to docs/, such as `api/messages.md`; `addressOf` returns the served address of a project file, or null: then its link
 * becomes plain text.
 */
export function renderManualPage(
  path: string,
  markdown: string,
  addressOf: (file: string) => string | null,
): ManualPage {
  const sections: ManualPage['sections'] = []
  const links: string[] = []
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const id = anchorOf(text)
        if (depth === 2) sections.push({ id, title: plain(text) })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      code({ text, lang = '' }: Tokens.Code): string {
        const [language = '', note = ''] = lang.split(' ')
        // A note with a file name is for the reader; `setup` and `background` are for the test that runs the page.
        const caption = note.includes('.') ? `<figcaption>${escapeHtml(note)}</figcaption>` : ''
        return `<figure class="${escapeHtml(language)}">${caption}<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>\n`
      },
      table(token: Tokens.Table): string {
        const cells = (row: Tokens.TableCell[], tag: string): string =>
          `<tr>${row.map(({ text, tokens }) => (text === '' ? '<td></td>' : `<${tag}>${breakable(this.parser.parseInline(tokens))}</${tag}>`)).join('')}</tr>`
        const rows = token.rows.map((row) => cells(row, 'td')).join('\n')
        return `<div class="wide" tabindex="0"><table><thead>${cells(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens)
        const to = resolve(path, href, addressOf)
        if (to === null) return inner
        links.push(to)
        return `<a href="${escapeHtml(to)}">${inner}</a>`
      },
    },
  })
  const html = marked.parse(markdown, { async: false })
  return { html, sections, links }
}

/** Lets long names and addresses wrap: a column is as wide as its longest word. */
const breakable = (html: string): string =>
  html.replace(/<[^>]*>|[^<>\s]{16,}/g, (part) =>
    part.startsWith('<') ? part : part.replace(/[_/@?=,](?=.)/g, '$&<wbr>'),
  )

function resolve(path: string, href: string, addressOf: (file: string) => string | null): string | null {
  if (/^(https?:|#|\/)/.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const address = addressOf(posix.join('docs', posix.dirname(path), file))
  return address && (anchor === undefined ? address : `${address}#${anchor}`)
}

/** The first-level heading. */
export function titleOf(markdown: string): string {
  return plain(/^# (.+)$/m.exec(markdown)?.[1] ?? '')
}

/** The id of a heading, as GitHub makes it, so that links work in both places. */
export function anchorOf(text: string): string {
  return plain(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

const plain = (text: string): string => text.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
