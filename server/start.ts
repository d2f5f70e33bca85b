/** What can keep the program from starting, in words for the person who starts it. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { Config } from './config.ts'
import { codeOf } from './db/failure.ts'
import { DataDirLockedError } from './db/lock.ts'
import { KeyFile } from './sealing/master-key.ts'

/** A message for the person who starts the program, without a stack. */
export class StartError extends Error {}

/** What keeps a database from opening is for the person who starts us: an address, a password, a version, a full disk. */
export function explainDatabase(error: unknown, { databaseUrl, dataFolder }: Config): never {
  if (!(error instanceof Error) || error instanceof DataDirLockedError) throw error
  const what = databaseUrl ? 'database of DATABASE_URL' : `data folder ${dataFolder} (HELIOGRAM_DATA)`
  throw new StartError(`The ${what} cannot be used: ${error.message || codeOf(error)}`, { cause: error })
}

/** The key file, which is made where there is none. @throws StartError where it cannot be read, or made. */
export function openKeyFile({ keyFile }: Config): KeyFile {
  try {
    return new KeyFile(keyFile)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(`The master key (HELIOGRAM_KEY_FILE) cannot be used: ${reason}`, { cause: error })
  }
}

/** That the master key is not the one of this database: texts would be unreadable, and new ones readable with another key. */
export const explainForeignKey = ({ keyFile }: Config): string =>
  `The key file ${keyFile} is not the one with which the texts in this database are encrypted. Restore it from where you keep it safe.`

/** The certificate of the SMPP server, from its files. @throws StartError that names the file. */
export function readCertificate(
  tls: { certFile: string; keyFile: string } | null,
): { cert: Buffer; key: Buffer } | null {
  if (!tls) return null
  try {
    const pem = { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }
    createSecureContext(pem)
    return pem
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(`HELIOGRAM_SMPP_SERVER_TLS_CERT and _KEY cannot be used: ${reason}`, { cause: error })
  }
}

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
