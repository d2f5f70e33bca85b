import { Type } from 'typebox'

const encoding = Type.String({
  maxLength: 40,
  description: 'For a text file, if neither its bytes nor its charset decide: `windows-1251`, `shift_jis`, `gb18030` …',
  examples: ['windows-1251'],
})
const delimiter = Type.Enum([',', ';', '\t', '|'], {
  description: 'The separator of cells. Default: detected from the rows.',
})
const headerLine = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'The line with the names of the columns. Default: the first line with names.',
})
/** Options for reading a table, of a query or form. */
export const tableOptions = {
  encoding: Type.Optional(encoding),
  delimiter: Type.Optional(delimiter),
  header_line: Type.Optional(headerLine),
}
