/** Server-sent events, parsed as in the HTML standard. */

/** A message without data only reports the position. */
export interface StreamMessage {
  id: string | null
  data: string | null
}

/** Ends with the response. */
export async function* readStream(answer: Response): AsyncGenerator<StreamMessage> {
  if (!answer.body) return
  const decoder = new TextDecoder()
  let rest = ''
  let id: string | null = null
  let data: string[] = []
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.map((one) => one.replace(/\r$/, ''))) {
      if (line === '') {
        if (id !== null || data.length > 0) yield { id, data: data.length > 0 ? data.join('\n') : null }
        data = []
        id = null
        continue
      }
      const [, field, value = ''] = /^(\w+)(?:: ?(.*))?$/s.exec(line) ?? []
      if (field === 'id') id = value
      if (field === 'data') data.push(value)
    }
  }
}
