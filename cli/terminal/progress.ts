/** A progress line on a terminal, removed at the end. */
import { paintNote } from './output.ts'
import { cut } from './text.ts'

export interface Progress {
  /** `part` is 0 to 1; null if unknown. */
  show(text: string, part?: number | null): void
  end(): void
}

const cells = 24

/** On standard error; nothing without a terminal. */
export function startProgress(): Progress {
  const { stderr } = process
  if (!stderr.isTTY) return { show: () => {}, end: () => {} }
  const clear = '\r\u001b[2K'
  return {
    show(text, part = null) {
      const full = part === null ? 0 : Math.round(Math.min(1, Math.max(0, part)) * cells)
      const bar =
        part === null
          ? ''
          : `${paintNote('cyan', '━'.repeat(full))}${paintNote('dim', '━'.repeat(cells - full))} ${String(Math.floor(part * 100)).padStart(3)} %  `
      const room = (stderr.columns || 80) - 1 - (part === null ? 0 : cells + 8)
      stderr.write(`${clear}${bar}${cut(text, Math.max(10, room))}`)
    },
    end() {
      stderr.write(clear)
    },
  }
}
