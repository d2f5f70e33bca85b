// The simulator's JSON, as it is under this page.

/** Gets what is at a path; throws an Error that says what is wrong. */
export async function get(path) {
  return read(await fetch(path))
}

/** Posts to a path; throws an Error that says what is wrong. */
export async function post(path, body) {
  const headers = { 'content-type': 'application/json' }
  return read(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function read(response) {
  const body = await response.json()
  if (!response.ok) throw new Error(body.error)
  return body
}
