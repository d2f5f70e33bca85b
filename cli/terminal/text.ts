/** Untrusted texts in a terminal: control characters are made visible, and widths are known. */

// C0 (except those handled below), DEL and C1; then marks of writing direction.
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** One line with control characters made visible: a text message could be written to take over a terminal. */
export function clean(text: string): string {
  return text.replace(controls, (char) => {
    const code = char.charCodeAt(0)
    if (code < 0x20) return code === 0x0a ? '⏎' : String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '␡' : '�'
  })
}

/** The same over several lines. */
export const cleanLines = (text: string): string[] => text.split(/\r\n|\r|\n/).map(clean)

/** Safe for terminals: JSON.stringify does not escape DEL and C1. */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(
    // oxlint-disable-next-line no-control-regex
    /[\u007f-\u009f]/g,
    (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
  )

const segmenter = new Intl.Segmenter()
// The wide blocks of Unicode's East Asian Width that people write, and pictographs.
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|^\p{Emoji}\ufe0f/u

/** Columns of a text without control characters. */
export function widthOf(text: string): number {
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}

/** Cuts to so many columns, with an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const { segment } of segmenter.segment(text)) {
    width += widthOf(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}
