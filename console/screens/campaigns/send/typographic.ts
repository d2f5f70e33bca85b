/** Characters that word processors put for plain ones; the API replaces them with `smart_encoding`. */
export const typographic: ReadonlySet<string> = new Set(
  '‘’‚‛“”„‟«»‹›–—―‐‑−…•\u00a0\u2002\u2003\u2009\u200a\u202f\u200b',
)
