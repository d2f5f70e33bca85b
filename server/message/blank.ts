// Also the fillers of Hangul and the empty pattern of Braille, which count as a letter and a symbol.
const blank = /^[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u

/** Whether a phone would show nothing of a text. */
export const isBlank = (text: string): boolean => blank.test(text)

/** For texts that are `isBlank`. */
export const nothingToRead = 'has nothing to read, only blanks or invisible characters'
