/** What can keep the program from starting, in words for the person who starts it. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { Config } from './config.ts'
import { codeOf } from './db/failure.ts'
import { DataDirLockedError } from './db/lock.ts'

/** A message for the person who starts the program, without a stack. */
export class StartError extends Error {}

/** What keeps a database from opening is for the person who starts us: an address, a password, a version, a full disk. */
export function explainDatabase(error: unknown, { databaseUrl, dataFolder }: Config): never {
  if (!(error instanceof Error) || error instanceof DataDirLockedError) throw error
  const what = databaseUrl ? 'database of DATABASE_URL' : `data folder ${dataFolder} (HELIOGRAM_DATA)`
  throw new StartError(`The ${what} cannot be used: ${error.message || codeOf(error)}`, { cause: error })
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

/** Asks for a port before anything is built on it. @throws StartError that names the variable. */
export async function requireFreePort(host: string, port: number, variable: string): Promise<void> {
  const probe = createServer()
  probe.listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      throw new StartError(`${host} is not an address of this machine. Set HELIOGRAM_HOST to one.`)
    if (code === 'EACCES') throw new StartError(`Port ${port} is only for root. Set ${variable} to one from 1024 on.`)
    const reason =
      code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be listened on (${code ?? String(error)})`
    throw new StartError(`Port ${port} on ${host} ${reason}. Set ${variable} to a free port.`)
  }
  probe.close()
  await once(probe, 'close')
}
