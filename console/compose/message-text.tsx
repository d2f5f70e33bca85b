/** The field for a text, with its count, and with the characters that cost more segments. */
import '../style/compose.css'
import { Button } from '../kit/button.tsx'
import { TextArea } from '../kit/form.tsx'
import { formatNumber, tellCount } from '../kit/show.tsx'
import { measure, reviewText, tellCharacter, type Review } from './text.ts'

interface MessageTextProps {
  value: string
  onChange: (text: string) => void
  /** Whether the API replaces typographic characters, or is asked for UCS-2: then nothing is marked. */
  isSettled: boolean
}

export function MessageText({ value, onChange, isSettled }: MessageTextProps) {
  const review = reviewText(value)
  const isMarked = !isSettled && review.scripts.length === 0
  const { characters, segments } = measure(value)
  return (
    <>
      <TextArea
        label="Text"
        name="message"
        rows={6}
        value={value}
        onChange={onChange}
        behind={review.pieces.map(({ text, isCulprit }, n) =>
          isMarked && isCulprit ? <mark key={n}>{text}</mark> : text,
        )}
        hint={`${formatNumber(characters)} of 1,600 characters${value === '' ? '' : ` · ${tellCount(segments, 'segment')}`}`}
      />
      {!isSettled && <Advice review={review} segments={segments} text={value} onChange={onChange} />}
    </>
  )
}

interface AdviceProps {
  review: Review
  segments: number
  text: string
  onChange: (text: string) => void
}

function Advice({ review: { scripts, others, swaps, better }, segments, text, onChange }: AdviceProps) {
  if (scripts.length === 0 && others.length === 0 && swaps.length === 0) return null
  const saved =
    better === null
      ? ''
      : better.segments < segments
        ? ` (${tellCount(better.segments, 'segment')} instead of ${segments})`
        : ' (160 characters in a segment instead of 70)'
  return (
    <div className="advice" role="status">
      <p>{tellReason(scripts, others, swaps)}</p>
      {scripts.length === 0 && swaps.length > 0 && (
        <div className="buttons">
          {better !== null && swaps.length > 1 && (
            <Button onClick={() => onChange(better.text)}>Replace all{saved}</Button>
          )}
          {swaps.map(({ character, replacement }) => (
            <Button
              key={character}
              kind={swaps.length > 1 ? 'quiet' : 'plain'}
              onClick={() => onChange(text.replaceAll(character, replacement))}
            >
              {tellSwap(character, replacement)}
              {swaps.length === 1 && saved}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}

const tellSwap = (character: string, replacement: string): string =>
  replacement === ''
    ? `Remove ${tellCharacter(character)}`
    : `Replace ${tellCharacter(character)} with ${tellCharacter(replacement)}`

const list = new Intl.ListFormat('en', { type: 'conjunction' })

function tellReason(scripts: string[], others: string[], swaps: Review['swaps']): string {
  const why = 'a segment holds 70 characters instead of 160.'
  if (scripts.length > 0) {
    const verb = scripts.length === 1 ? 'script needs' : 'scripts need'
    return `${list.format(scripts)} ${verb} the encoding UCS-2: ${why}`
  }
  const culprits = [...others, ...swaps.map(({ character }) => character)]
  const shown = culprits.slice(0, 8).map(tellCharacter)
  const named = culprits.length > shown.length ? [...shown, `${culprits.length - shown.length} more`] : shown
  return `${list.format(named)} ${culprits.length === 1 ? 'needs' : 'need'} the encoding UCS-2: ${why}`
}
