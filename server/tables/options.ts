/** What a caller may say of how a table is read. */
import { Type } from 'typebox'

const encoding = Type.String({
  maxLength: 40,
  description: 'Of a text file, where neither its bytes nor its charset tell: `windows-1251`, `shift_jis`, `gb18030` …',
  examples: ['windows-1251'],
})
const delimiter = Type.Enum([',', ';', '\t', '|'], {
  description: 'What separates cells. Default: what fits the rows.',
})
const headerLine = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'The line with the names of the columns. Default: the first that has names.',
})
/** Of a query, or of a form. */
export const tableOptions = {
  encoding: Type.Optional(encoding),
  delimiter: Type.Optional(delimiter),
  header_line: Type.Optional(headerLine),
}
