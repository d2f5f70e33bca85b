import { stripVTControlCharacters } from 'node:util'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { openLog } from './log.ts'
import { renderLogLine } from './log-lines.ts'

test('people read the time, the event and its values, in one line without JSON', () => {
  let printed = ''
  const sink = new Writable({ write: (chunk: Buffer, _, done) => done(void (printed += chunk.toString())) })
  const log = openLog('info', sink, { isText: true })
  log.info({ carrier: 'simulator', state: 'bound', detail: '' }, 'link state changed')
  log.warn({ names: ['a', 'b', 'c', 'd'], from: { host: 'x' }, reason: 'no room' }, 'a warning')
  log.error({ error: Object.assign(new Error('down\nand out'), { code: 'ECONNREFUSED' }) }, 'sweep failed')
  log.info('alone')
  const lines = stripVTControlCharacters(printed).split('\n')
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
    'link state changed carrier=simulator state=bound',
    `warn a warning names="4 items" from="{ host: 'x' }" reason="no room"`,
    'error sweep failed error="down\\nand out (ECONNREFUSED)"',
    'alone',
    '',
  ])
})

test('other lines stay unchanged', () => {
  for (const line of ['', 'Heliogram is running.', '{"level":30', '{"level":30,"time":'])
    expect(renderLogLine(line)).toBe(line)
})
