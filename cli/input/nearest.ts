/** The nearest word, if any is near. */
export function nearest(word: string, words: readonly string[]): string | null {
  const most = Math.max(2, Math.floor(word.length / 4))
  const [best] = words
    .map((one) => ({ one, distance: distanceOf(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
  return best?.one ?? null
}

/** Levenshtein: letters to insert, delete or replace. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    row = next
  }
  return row[b.length] ?? 0
}
