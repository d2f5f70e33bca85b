import { get, post } from './api.js'
import { el, fateOf, setText, showLink, showMessages, showPhones, showWelcome } from './view.js'

const about = await get('/about')
const numberHere = () => location.hash.slice(1).replace(/\D/g, '')
let shownNumber = ''
/** Unsent text by phone. */
const drafts = new Map()
/** If something changes during a refresh, one more follows. */
let isLooking = false
let isStale = false

/** Refreshes all that is shown; any number of changes meanwhile cause one more refresh. */
async function look() {
  isStale = true
  if (isLooking) return
  isLooking = true
  try {
    while (isStale) {
      isStale = false
      await lookOnce()
    }
  } catch {
    showLink(about, null)
    // Going back needs no response.
    if (numberHere() === '') showConversation('', [])
  } finally {
    isLooking = false
  }
}

async function lookOnce() {
  const open = numberHere()
  const [{ phones }, stats, conversation] = await Promise.all([
    get('/phones'),
    get('/stats'),
    open === '' ? { messages: [] } : get(`/phones/${open}/messages`),
  ])
  showPhones(phones, open)
  showLink(about, stats)
  showConversation(open, conversation.messages)
  const isUnread = phones.some((phone) => phone.number === open && phone.unread > 0)
  if (isUnread && document.visibilityState === 'visible') await post(`/phones/${open}/read`, {})
}

function showConversation(open, messages) {
  const isAnother = open !== shownNumber
  if (isAnother) {
    drafts.set(shownNumber, el('text').value)
    el('text').value = drafts.get(open) ?? ''
    shownNumber = open
  }
  el('welcome').hidden = open !== ''
  el('conversation').hidden = open === ''
  setText(el('number'), open === '' ? '' : `+${open}`)
  setText(el('fate'), fateOf(open, about.fates))
  showMessages(messages, isAnother)
  showPeers(messages, isAnother)
  if (isAnother) el('problem').hidden = true
  if (isAnother && open !== '') el('text').focus()
}

/** The recipient of a reply: the number that wrote last, unless the user chooses another. */
function showPeers(messages, isAnother) {
  const peer = el('peer')
  const peers = [...new Set(messages.map((message) => message.peer))].reverse()
  el('peers').replaceChildren(
    ...peers.map((number) => {
      const option = document.createElement('option')
      option.value = number
      return option
    }),
  )
  // Names cannot be replied to.
  if (isAnother || peer.value === '') peer.value = peers.find((number) => /^\d+$/.test(number)) ?? ''
}

/** Returns whether it was accepted. */
async function send(text) {
  const from = shownNumber
  const to = el('peer').value.replace(/[\s.()/-]/g, '')
  let problem = ''
  try {
    await post(`/phones/${from}/replies`, { text, ...(to !== '' && { to }) })
  } catch (error) {
    problem = error.message
  }
  if (from === shownNumber) {
    setText(el('problem'), problem)
    el('problem').hidden = problem === ''
  }
  await look()
  return problem === ''
}

/** Clears the field immediately, for a second Enter and more typing; a rejected text comes back. */
async function sendTyped() {
  const field = el('text')
  const [from, text] = [shownNumber, field.value]
  if (text.trim() === '') return
  field.value = ''
  if (await send(text)) return
  if (from !== shownNumber) drafts.set(from, drafts.get(from) || text)
  else if (field.value === '') field.value = text
}

el('composer').addEventListener('submit', (event) => {
  event.preventDefault()
  void sendTyped()
})

el('text').addEventListener('keydown', (event) => {
  // An Enter that ends the composition of a character does not send.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  void sendTyped()
})

for (const button of document.querySelectorAll('[data-word]')) {
  button.addEventListener('click', () => void send(button.dataset.word))
}

function openNewPhone() {
  el('new-phone-form').reset()
  el('new-phone-dialog').showModal()
}

el('new-phone').addEventListener('click', openNewPhone)
el('new-phone-cancel').addEventListener('click', () => el('new-phone-dialog').close())
el('new-phone-form').addEventListener('submit', (event) => {
  location.hash = new FormData(event.target).get('number').replace(/\D/g, '')
})

document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || el('new-phone-dialog').open) return
  if (event.key === 'Escape') {
    document.activeElement?.blur()
    location.hash = ''
  }
  if (event.target.closest('input, textarea') !== null) return
  if (event.key === 'n') {
    event.preventDefault()
    openNewPhone()
  }
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') moveFocus(event)
})

/** Up and down move through the list of phones. */
function moveFocus(event) {
  const links = [...document.querySelectorAll('#phones a')]
  const at = links.indexOf(document.activeElement)
  const next = links[event.key === 'ArrowDown' ? at + 1 : at - 1]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

window.addEventListener('hashchange', () => void look())
document.addEventListener('visibilitychange', () => void look())

const events = new EventSource('/events')
events.addEventListener('changed', () => void look())
// Also after a lost connection: changes meanwhile were missed.
events.addEventListener('open', () => void look())
events.addEventListener('error', () => showLink(about, null))

showWelcome(about)
await look()
