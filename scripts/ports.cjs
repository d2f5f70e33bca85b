'use strict'
// Checks the ports of a first start before the long installation. The program checks again at each start, by its settings
// (server/program/free-ports.ts); this check needs no packages, and is plain JavaScript like setup.cjs.

const net = require('net')

/** The service's ports with these variables. Invalid ones are left to the program, which knows all rules. */
function listPorts(env) {
  const host = env.HELIOGRAM_HOST || '127.0.0.1'
  const ports = []
  const add = (variable, fallback, on) => {
    const text = env[variable] || fallback
    if (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65536)
      ports.push({ variable, host: on, port: Number(text) })
  }
  if (!env.HELIOGRAM_ROLES || /\bapi\b/.test(env.HELIOGRAM_ROLES)) {
    add('HELIOGRAM_PORT', '8080', host)
    add('HELIOGRAM_SMPP_SERVER_PORT', '', env.HELIOGRAM_SMPP_SERVER_HOST || host)
  }
  add('HELIOGRAM_METRICS_PORT', '', host)
  const simulator = env.HELIOGRAM_SIMULATOR || 'auto'
  if (simulator === 'on' || (simulator === 'auto' && !env.HELIOGRAM_CARRIER_URL)) {
    add('HELIOGRAM_SIMULATOR_PORT', '2775', '127.0.0.1')
    add('HELIOGRAM_SIMULATOR_HTTP_PORT', '8081', '127.0.0.1')
  }
  return ports
}

/** @throws with a line per occupied port */
function requireFreePorts(env) {
  const ports = listPorts(env)
  return Promise.all(ports.map(isTaken)).then((taken) => {
    const faults = ports.filter((_, i) => taken[i])
    if (faults.length === 0) return
    throw new Error(
      faults
        .map(
          ({ variable, host, port }) =>
            `Port ${port} on ${host} is used by another program. Set ${variable} to a free port.`,
        )
        .join('\n'),
    )
  })
}

function isTaken({ host, port }) {
  return new Promise((resolve) => {
    const probe = net.createServer()
    probe.once('error', (error) => resolve(error.code === 'EADDRINUSE'))
    probe.listen(port, host, () => probe.close(() => resolve(false)))
  })
}

module.exports = { listPorts, requireFreePorts }
