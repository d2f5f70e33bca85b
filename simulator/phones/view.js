// Texts of messages only ever become text nodes.

const SECOND = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const MINUTE = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const ENDING_DIGITS = 4

export function el(id) {
  return document.getElementById(id)
}

/** Changes a text only if it differs, so that screen readers and selections are not disturbed. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

function setTime(element, at, format) {
  setText(element, format.format(new Date(at)))
  element.dateTime = at
  element.title = new Date(at).toLocaleString()
}

function showList(list, template, items, keyOf, show) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]))
  const children = items.map((item) => {
    const key = String(keyOf(item))
    const child = known.get(key) ?? template.content.firstElementChild.cloneNode(true)
    known.delete(key)
    child.dataset.key = key
    show(child, item)
    return child
  })
  for (const gone of known.values()) gone.remove()
  for (const [index, child] of children.entries()) {
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null)
  }
}

export function showPhones(phones, open) {
  showList(
    el('phones'),
    el('phone-row'),
    phones,
    (phone) => phone.number,
    (row, phone) => {
      const link = row.querySelector('a')
      link.href = `#${phone.number}`
      link.setAttribute('aria-current', String(phone.number === open))
      setText(row.querySelector('.who'), `+${phone.number}`)
      setText(row.querySelector('.unread'), phone.unread > 0 && phone.number !== open ? String(phone.unread) : '')
      if (phone.last === null) return
      setTime(row.querySelector('time'), phone.last.at, MINUTE)
      const preview = phone.last.text ?? 'Binary message'
      setText(row.querySelector('.preview'), phone.last.direction === 'typed' ? `You: ${preview}` : preview)
    },
  )
  el('no-phones').hidden = phones.length > 0
  const unread = phones.reduce((sum, phone) => sum + (phone.number === open ? 0 : phone.unread), 0)
  document.title = unread > 0 ? `(${unread}) Phones` : 'Phones'
}

export function showMessages(messages, isAnother) {
  const list = el('messages')
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40
  const wasLast = list.lastElementChild?.dataset.key
  const hasPeers = new Set(messages.map((message) => message.peer)).size > 1
  showList(
    list,
    el('bubble'),
    messages,
    (message) => message.id,
    (bubble, message) => {
      showBubble(bubble, message, hasPeers)
    },
  )
  const isTyped = messages.at(-1)?.direction === 'typed' && list.lastElementChild?.dataset.key !== wasLast
  if (isAnother || isAtEnd || isTyped) list.scrollTop = list.scrollHeight
}

function showBubble(bubble, message, hasPeers) {
  const { tone, words } = stateOf(message)
  bubble.classList.toggle('typed', message.direction === 'typed')
  bubble.classList.toggle('failed', message.outcome !== null && message.outcome.state !== 'delivered')
  setText(bubble.querySelector('.peer'), hasPeers ? message.peer : '')
  setText(bubble.querySelector('.text'), message.text ?? 'Binary message')
  setTime(bubble.querySelector('time'), message.at, SECOND)
  setText(bubble.querySelector('.size'), `${message.encoding} · ${segmentsOf(message)}`)
  const state = bubble.querySelector('.state')
  setText(state, words)
  state.className = `state ${tone}`
}

function segmentsOf({ segments, segmentsHere }) {
  if (segmentsHere < segments) return `${segmentsHere} of ${segments} segments so far`
  return segments === 1 ? '1 segment' : `${segments} segments`
}

function stateOf({ direction, outcome, progress }) {
  const { due, sent, answered } = progress
  const isDone = due > 0 && answered >= due
  if (direction === 'typed') {
    if (isDone) return { tone: 'is-good', words: '✓ taken' }
    return { tone: '', words: sent > 0 ? 'waiting for an answer' : 'held until someone is bound' }
  }
  if (outcome === null) return { tone: '', words: 'no receipt' }
  const tone = outcome.state === 'delivered' ? 'is-good' : 'is-bad'
  const what = outcome.state === 'delivered' ? 'delivered' : `${outcome.state}, err ${outcome.err}`
  if (isDone) return { tone, words: `✓ receipt: ${what}` }
  return { tone: '', words: sent > 0 ? `receipt sent: ${what}` : `receipt to come: ${what}` }
}

export function fateOf(number, fates) {
  const byRecipient = (recipient) => fates.find((fate) => fate.recipient === recipient)
  const fate = byRecipient(number) ?? byRecipient(number.slice(-ENDING_DIGITS))
  return fate === undefined ? '' : `To this number: ${fate.happens}`
}

export function showWelcome({ apiUrl, fates }) {
  setText(
    el('curl'),
    `curl ${apiUrl}/v1/messages \\\n  -H "Authorization: Bearer $KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"to": "15551230001", "message": "Hello!"}'`,
  )
  el('fates').replaceChildren(
    ...fates.map(({ recipient, happens }) => {
      const row = document.createElement('tr')
      row.append(document.createElement('td'), document.createElement('td'))
      row.children[0].textContent = /^\d{4}$/.test(recipient) ? `…${recipient}` : recipient
      row.children[1].textContent = happens
      return row
    }),
  )
}

/** Null = the simulator cannot be reached. */
export function showLink(about, stats) {
  const link = el('link')
  link.classList.toggle('is-lost', stats === null)
  if (stats === null) return setText(link, 'The simulator does not answer. Trying again…')
  const bound = stats.bound === 0 ? 'nobody bound' : `${stats.bound} bound`
  const held = stats.held > 0 ? ` · ${stats.held} held` : ''
  return setText(
    link,
    `SMPP ${about.smppPort} · ${bound} · ${stats.accepted} ${stats.accepted === 1 ? 'submit' : 'submits'}${held}`,
  )
}
