/** `1 segment`, `2 segments`. */
export const showSegments = (count: number): string => `${count} ${count === 1 ? 'segment' : 'segments'}`

/** `1 segment, GSM-7, 17 characters`. */
export const showSize = (of: { segments: number; encoding: string; characters: number }): string =>
  `${showSegments(of.segments)}, ${of.encoding}, ${of.characters} characters`
