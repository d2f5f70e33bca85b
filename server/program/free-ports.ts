/** Checks before the start that the ports of this process are free. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { Config } from './config.ts'
import type { Gates } from './gate.ts'
import { StartError } from './start.ts'

interface Listening {
  host: string
  hostVariable: string
  port: number
  variable: string
  /** This process listens there already. */
  isOurs?: boolean
}

/**
 * Opens every port of this process before the rest starts; holds each until the last, because two may be equal.
 * @throws StartError with a line for each port that fails, and its variable.
 */
export async function requireFreePorts(config: Config, gates: Gates): Promise<void> {
  const wanted = listeningOf(config, gates)
  const probes: Server[] = []
  const faults: string[] = []
  for (const [i, one] of wanted.entries()) {
    if (one.isOurs === true) continue
    const probe = createServer()
    probes.push(probe)
    const fault = await listen(probe, one, wanted.slice(0, i))
    if (fault !== null && !faults.includes(fault)) faults.push(fault)
  }
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  if (faults.length > 0) throw new StartError(faults.join('\n'))
}

function listeningOf(config: Config, gates: Gates): Listening[] {
  const { host, port, roles, metricsPort, smppServer, simulatorPort, simulatorHttpPort } = config
  const own = { host, hostVariable: 'HELIOGRAM_HOST' }
  const local = { ...own, host: '127.0.0.1' }
  const isApi = roles.includes('api')
  return [
    ...(isApi ? [{ ...own, port, variable: 'HELIOGRAM_PORT', isOurs: gates.api !== null }] : []),
    ...(metricsPort === null
      ? []
      : [{ ...own, port: metricsPort, variable: 'HELIOGRAM_METRICS_PORT', isOurs: gates.metrics !== null }]),
    ...(isApi && smppServer
      ? [{ ...smppServer, hostVariable: 'HELIOGRAM_SMPP_SERVER_HOST', variable: 'HELIOGRAM_SMPP_SERVER_PORT' }]
      : []),
    ...(config.hasSimulator
      ? [
          { ...local, port: simulatorPort, variable: 'HELIOGRAM_SIMULATOR_PORT' },
          { ...local, port: simulatorHttpPort, variable: 'HELIOGRAM_SIMULATOR_HTTP_PORT' },
        ]
      : []),
  ]
}

/** Returns the reason of a failure, else null. */
async function listen(
  probe: Server,
  { host, hostVariable, port, variable }: Listening,
  others: Listening[],
): Promise<string | null> {
  probe.listen(port, host)
  try {
    await once(probe, 'listening')
    return null
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      return `${host} is not an address of this machine. Set ${hostVariable} to one.`
    if (code === 'EACCES') return `Port ${port} can be used only by root. Set ${variable} to 1024 or higher.`
    const same = others.find((other) => other.port === port && port !== 0)
    const reason =
      code === 'EADDRINUSE'
        ? `is used by ${same ? same.variable : 'another program'}`
        : `cannot be used (${code ?? String(error)})`
    return `Port ${port} on ${host} ${reason}. Set ${variable} to a free port.`
  }
}
