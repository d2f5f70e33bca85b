// The simulator's JSON, as it is under this page.

/** Gets what is at a path; throws an Error that says what is wrong. */
export async function get(path) {
  return ask(path)
}

/** Posts to a path; throws an Error that says what is wrong. */
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
    // Nobody, or something in between that speaks no JSON; browsers have words of their own for it.
    throw new Error('The simulator does not answer.')
  }
  if (!response.ok) throw new Error(body.error)
  return body
}
