/** The manual: the pages of docs/ as resources, and a tool for assistants without resources. */
import { readFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ResourceNotFoundError, ResourceTemplate, type McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Refusal } from './refusal.ts'
import { defineReading } from './tool.ts'

interface Page {
  /** Path below docs/ without the ending, such as `api/messages`. */
  page: string
  title: string
  markdown: string
}

const folder = fileURLToPath(new URL('../docs/', import.meta.url))
/** Characters of a response; longer pages are read by chapter. */
const textMax = 20_000

let pages: Promise<Page[]> | undefined

function readPages(): Promise<Page[]> {
  const names = globSync(['*.md', 'api/*.md'], { cwd: folder }).sort()
  return (pages ??= Promise.all(
    names.map(async (file) => {
      const markdown = await readFile(`${folder}${file}`, 'utf8')
      const [, title = file] = /^# (.+)$/m.exec(markdown) ?? []
      return { page: file.replace(/\.md$/, ''), title, markdown }
    }),
  ))
}

const addressOf = (page: string): string => `heliogram://manual/${page}`

/** As `heliogram://manual/api/messages`. */
export function offerManual(server: McpServer): void {
  const list = async () => ({
    resources: (await readPages()).map(({ page, title }) => ({
      uri: addressOf(page),
      name: page,
      title,
      mimeType: 'text/markdown',
    })),
  })
  const complete = {
    page: async (begun: string) => (await readPages()).map(({ page }) => page).filter((page) => page.startsWith(begun)),
  }
  const about = { title: 'Manual', description: 'A page of the Heliogram manual.', mimeType: 'text/markdown' }
  server.registerResource(
    'manual',
    new ResourceTemplate('heliogram://manual/{+page}', { list, complete }),
    about,
    async (uri) => {
      const found = (await readPages()).find(({ page }) => addressOf(page) === uri.href)
      if (!found) throw new ResourceNotFoundError(uri.href)
      return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: found.markdown }] }
    },
  )
}

export const readManual = defineReading({
  name: 'read_manual',
  title: 'Read the manual',
  description:
    'Returns a page of the Heliogram manual, or a chapter of it; without a page, the list of pages. Use it to learn how the API and its operation work, before you guess.',
  scopes: [],
  input: z.strictObject({
    page: z.string().max(100).optional().describe('For example api/messages, runbooks or webhooks.'),
    chapter: z.string().max(200).optional().describe('The heading of one chapter of the page.'),
  }),
  output: z.object({
    pages: z.array(z.object({ page: z.string(), title: z.string() })).describe('All pages, if no page was given.'),
    page: z.string().nullable(),
    chapters: z.array(z.string()).describe('Headings of the page.'),
    text: z.string().nullable(),
    truncated: z.boolean().describe('The page is longer: ask for single chapters.'),
  }),
  async read(_, { page: wanted, chapter }) {
    const all = await readPages()
    const pages = all.map(({ page, title }) => ({ page, title }))
    if (wanted === undefined) return { pages, page: null, chapters: [], text: null, truncated: false }
    const name = wanted.replace(/^heliogram:\/\/manual\/|^\/?docs\/|\.md$/g, '')
    const found = all.find(({ page }) => page === name || page === `${name}/README`)
    if (!found)
      throw new Refusal(
        'page_unknown',
        `The manual has no page ${JSON.stringify(wanted)}.`,
        `It has ${all.map(({ page }) => page).join(', ')}.`,
      )
    const parts = found.markdown.split(/^(?=##+ )/m)
    const headingOf = (part: string): string => /^##+ (.+)$/m.exec(part)?.[1]?.trim() ?? ''
    const chapters = parts.slice(1).map(headingOf)
    let text = found.markdown
    if (chapter !== undefined) {
      const sought = chapter.replace(/^#+ /, '').trim().toLowerCase()
      const part = parts.slice(1).find((part) => headingOf(part).toLowerCase() === sought)
      if (part === undefined)
        throw new Refusal(
          'chapter_unknown',
          `The page has no chapter ${JSON.stringify(chapter)}.`,
          `It has ${chapters.join('; ')}.`,
        )
      text = part
    }
    return { pages: [], page: found.page, chapters, text: text.slice(0, textMax), truncated: text.length > textMax }
  },
})
