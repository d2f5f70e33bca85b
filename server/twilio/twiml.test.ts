import fc from 'fast-check'
import twilio from 'twilio'
import { expect, it, test } from 'vitest'
import { readTwiml } from './twiml.ts'

it.each([
  ['text', '<Message>Hello</Message>', [{ Body: 'Hello' }]],
  ['a body', '<Message>\n  <Body>Hello</Body>\n</Message>', [{ Body: 'Hello' }]],
  ['entities', '<Message>a &lt;b&gt; &amp; &#33;&#x1F44B;</Message>', [{ Body: 'a <b> & !👋' }]],
  ['CDATA', '<Message>a <![CDATA[<b> & ]]> c</Message>', [{ Body: 'a <b> &  c' }]],
  ['comments', '<!-- one --><Message>a<!-- <Message>no</Message> -->b</Message>', [{ Body: 'ab' }]],
  [
    'attributes',
    `<Message to='+15551230001' from="+15557654321" action="/s?a=1&amp;b=2" method="post">Hi</Message>`,
    [{ Body: 'Hi', To: '+15551230001', From: '+15557654321', StatusCallback: '/s?a=1&b=2' }],
  ],
  ['several, in their order', '<Message>1</Message><Sms>2</Sms>', [{ Body: '1' }, { Body: '2' }]],
  ['none', '', []],
])('reads %s', (_, inner, parameters) => {
  expect(readTwiml(response(inner)).faults).toEqual([])
  expect(parametersOf(response(inner))).toEqual(parameters)
})

test('reads a document after a byte order mark, and an empty root', () => {
  expect(readTwiml('<Response/>')).toEqual({ messages: [], faults: [] })
  expect(readTwiml(' \n<!-- x --><Response></Response>\n')).toEqual({ messages: [], faults: [] })
})

test('names the unsupported elements by place, and reads the rest', () => {
  const read = readTwiml(
    response(
      'loose<Redirect>/x</Redirect><Message>yes</Message><Message><Body>a</Body><Media>u</Media></Message>' +
        '<Message sendAt="now">b</Message><Message> </Message><Message>a<Body>b</Body></Message><Say/>',
    ),
  )
  expect(read.messages).toEqual([{ element: 'Message', position: 2, parameters: { Body: 'yes' } }])
  expect(read.faults.map(({ element, position, code, detail }) => [element, position, code, detail])).toEqual([
    ['Response', null, 12200, 'has text outside of <Message>'],
    ['Redirect', 1, 12200, 'is not supported: only <Message> is'],
    ['Message', 3, 12200, 'contains <Media>, which is not supported'],
    ['Message', 4, 12200, 'has the attribute sendAt, which is not supported'],
    ['Message', 5, 21602, 'has no text'],
    ['Message', 6, 12200, 'has more than one text'],
    ['Say', 7, 12200, 'is not supported: only <Message> is'],
  ])
})

it.each([
  ['an element that is not closed', '<Response><Message>a</Response>'],
  ['a cut document', '<Response><Message>a</Message>'],
  ['another root', '<response><Message>a</Message></response>'],
  ['two roots', '<Response/><Response/>'],
  ['text behind the root', '<Response/>ok'],
  ['a document type', '<!DOCTYPE r [<!ENTITY a "b">]><Response><Message>&a;</Message></Response>'],
  ['an entity that nobody declared', '<Response><Message>&nbsp;</Message></Response>'],
  ['a member of every object for an entity', '<Response><Message>&constructor;</Message></Response>'],
  ['a bare ampersand', '<Response><Message>a & b</Message></Response>'],
  ['half a character', '<Response><Message>&#xD800;</Message></Response>'],
  ['NUL', '<Response><Message>&#0;</Message></Response>'],
  ['an attribute twice', '<Response><Message to="1" to="2">a</Message></Response>'],
  ['an attribute without quotes', '<Response><Message to=1>a</Message></Response>'],
  ['plain text', 'ok'],
  ['JSON', '{"ok":true}'],
])('sends nothing of %s', (_, document) => {
  expect(readTwiml(document)).toMatchObject({ messages: [], faults: [{ element: null, code: 12100 }] })
})

test('reads the output of Twilio’s own library', () => {
  const text = fc.string({ unit: 'binary' }).filter((one) => !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(one))
  fc.assert(
    fc.property(fc.array(fc.record({ body: text, to: text, isNested: fc.boolean() })), (sent) => {
      const written = new twilio.twiml.MessagingResponse()
      for (const { body, to, isNested } of sent)
        if (isNested) written.message({ to }, '').body(body)
        else written.message({ to }, body)
      const { messages, faults } = readTwiml(written.toString())
      expect(messages.length + faults.length).toBe(sent.length)
      expect(messages.map(({ parameters }) => parameters)).toEqual(
        sent.filter(({ body }) => body.trim() !== '').map(({ body, to }) => ({ Body: body.trim(), To: to })),
      )
    }),
  )
})

test('takes time linear in any document', () => {
  const long = 60_000
  for (const piece of ['<!--', '<a ', '<a b="', '&', '<![CDATA[', '<?', ' ', '</a>', '<a>', '<a b="c" ']) {
    const began = performance.now()
    readTwiml(`<Response>${piece.repeat(long / piece.length)}`)
    expect(performance.now() - began, piece).toBeLessThan(2000)
  }
})

const response = (inner: string): string => `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`
const parametersOf = (document: string) => readTwiml(document).messages.map(({ parameters }) => parameters)
