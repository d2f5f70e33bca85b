/** Whether the ports of this process are free, asked before it starts. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { Config } from './config.ts'
import { StartError } from './start.ts'

/** Where the program is to listen, and the variables that say so. */
interface Listening {
  host: string
  hostVariable: string
  port: number
  variable: string
}

/** Asks for every port of this process before anything is built on them; at once, for two may be the same. @throws StartError that names the variable. */
export async function requireFreePorts(config: Config): Promise<void> {
  const wanted = listeningOf(config)
  const probes: Server[] = []
  try {
    for (const [i, one] of wanted.entries()) {
      const probe = createServer()
      probes.push(probe)
      await listen(probe, one, wanted.slice(0, i))
    }
  } finally {
    await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  }
}

function listeningOf(config: Config): Listening[] {
  const { host, port, roles, metricsPort, smppServer, simulatorPort, simulatorHttpPort } = config
  const own = { host, hostVariable: 'HELIOGRAM_HOST' }
  const local = { ...own, host: '127.0.0.1' }
  const isApi = roles.includes('api')
  return [
    ...(isApi ? [{ ...own, port, variable: 'HELIOGRAM_PORT' }] : []),
    ...(metricsPort === null ? [] : [{ ...own, port: metricsPort, variable: 'HELIOGRAM_METRICS_PORT' }]),
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

async function listen(
  probe: Server,
  { host, hostVariable, port, variable }: Listening,
  others: Listening[],
): Promise<void> {
  probe.listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      throw new StartError(`${host} is not an address of this machine. Set ${hostVariable} to one.`)
    if (code === 'EACCES') throw new StartError(`Port ${port} is only for root. Set ${variable} to one from 1024 on.`)
    const same = others.find((other) => other.port === port && port !== 0)
    const reason =
      code === 'EADDRINUSE'
        ? `is taken by ${same ? same.variable : 'another program'}`
        : `cannot be listened on (${code ?? String(error)})`
    throw new StartError(`Port ${port} on ${host} ${reason}. Set ${variable} to a free port.`)
  }
}
