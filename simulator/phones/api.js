/** Throws an Error with the reason. */
export async function get(path) {
  return ask(path)
}

/** Throws an Error with the reason. */
export async function post(path, body) {
  const headers = { 'content-type': 'application/json' }
  return ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function ask(path, init) {
  let response, body
  try {
    response = await fetch(path, init)
    body = await response.json()
  } catch {
    // No server, or a proxy that sends no JSON; browsers word this differently.
    throw new Error('The simulator does not answer.')
  }
  if (!response.ok) throw new Error(body.error)
  return body
}
