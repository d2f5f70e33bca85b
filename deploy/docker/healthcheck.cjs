'use strict'
// HEALTHCHECK of the image: asks /healthz of this process where it answers it, and fails unless it says 200.

const { HELIOGRAM_ROLES, HELIOGRAM_HOST, HELIOGRAM_PORT, HELIOGRAM_METRICS_PORT } = process.env
const isApi = (HELIOGRAM_ROLES || 'api').split(',').some((role) => role.trim() === 'api')
const port = isApi ? HELIOGRAM_PORT || '8080' : HELIOGRAM_METRICS_PORT
const host = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '[::1]' }[HELIOGRAM_HOST || ''] || HELIOGRAM_HOST

void main()

async function main() {
  if (!port) {
    console.log('Without the role api it is asked on HELIOGRAM_METRICS_PORT, which is not set: nothing was checked.')
    return
  }
  try {
    const answer = await fetch(`http://${host}:${port}/healthz`, { signal: AbortSignal.timeout(4000) })
    console.log(await answer.text())
    process.exitCode = answer.status === 200 ? 0 : 1
  } catch (error) {
    console.log(`No answer from http://${host}:${port}/healthz: ${error.cause ? error.cause.message : error.message}`)
    process.exitCode = 1
  }
}
