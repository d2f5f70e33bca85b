/** Reads the environment once. The only reader of `process.env` in the service. */
import { type LogLevel, type Role, clientVariables, variables, type Variable } from './config-variables.ts'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { asUrl, changeAddress } from '../ground/db/hosts.ts'
import { hostInUrl } from '../ground/base/network.ts'

export interface Config {
  databaseUrl: string | null
  databaseConnections: number
  dataFolder: string
  keyFile: string
  encryptsContent: boolean
  host: string
  port: number
  publicUrl: string
  /** Addresses and CIDRs of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: string[]
  consoleIdleHours: number
  /** Base address of short links, without a trailing slash; null: they are off. */
  shortUrl: string | null
  roles: Role[]
  firstEmail: string
  hasSimulator: boolean
  simulatorPort: number
  simulatorHttpPort: number
  /** Whether test keys may send. */
  hasTestMode: boolean
  /** Requests a second of a credential, unless its account sets another limit. */
  apiPerSecond: number
  carrierUrl: string | null
  webhookAllowedCidrs: string[]
  webhookPorts: number[]
  receiptTimeoutHours: number
  /** Countries whose numbers may have any length. */
  anyLengthCountries: string[]
  /** Null: there is no SMPP server. */
  smppServer: {
    host: string
    port: number
    tls: { certFile: string; keyFile: string } | null
    sessionsMax: number
    accountSessionsMax: number
  } | null
  /** The Bearer token for /metrics; null: none. */
  metricsToken: string | null
  /** An extra port for /metrics and /healthz, besides the API; null: none. */
  metricsPort: number | null
  logLevel: LogLevel
  logFormat: 'auto' | 'json' | 'text'
}

// From the colon after the name to the last at sign: a slash or an at sign in a password is a common fault.
const password = /(?<=^(?:[^:]*:\/\/)?[^:]*:)(?!\/\/).*(?=@)/s
// In PostgreSQL's own syntax, as query or words; a quoted value may end anywhere.
const passwordWord = /(?<=password\s*=).*/is

/** Shows a wrong value: addresses without their password, tokens not at all. */
const showOf = (name: string, text: string): string =>
  name === variables.metricsToken.name ? '***' : text.replace(password, '***').replace(passwordWord, '***')

export class ConfigError extends Error {}

const isVariable = (name: string): boolean => Object.values(variables).some((one) => one.name === name)

/** @throws ConfigError that names every wrong variable and its allowed values. */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const problems: string[] = []
  const read = <T>(one: Variable<T>): T => {
    const text = env[one.name]?.trim() || one.fallback
    const value = one.parse(text)
    if (value === undefined) problems.push(`${one.name} is "${showOf(one.name, text)}"; allowed: ${one.allowed}.`)
    return value as T
  }
  for (const name of Object.keys(env))
    if (name.startsWith('HELIOGRAM_') && !clientVariables.includes(name) && !isVariable(name))
      problems.push(`${name} is not a setting of Heliogram; see heliogram help settings.`)
  const v = variables
  const carrierUrl = read(v.carrierUrl) || null
  const simulator = read(v.simulator)
  const hasSimulator = simulator === 'on' || (simulator === 'auto' && carrierUrl === null)
  const dataFolder = resolve(read(v.dataFolder))
  const isAutoCidrs = (env[v.webhookAllowedCidrs.name]?.trim() || 'auto') === 'auto'
  const cidrs = read(v.webhookAllowedCidrs)
  const host = read(v.host) || v.host.fallback
  const portNumber = read(v.port)
  const config: Config = {
    databaseUrl: withPassword(read(v.databaseUrl), read(v.databasePasswordFile), problems),
    databaseConnections: read(v.databaseConnections),
    dataFolder,
    keyFile: resolve(read(v.keyFile) || `${dataFolder}/key`),
    encryptsContent: read(v.encryptContent) === 'on',
    host,
    port: portNumber,
    publicUrl: read(v.publicUrl) || `http://${hostInUrl(host)}:${portNumber}`,
    trustedProxies: read(v.trustedProxies),
    consoleIdleHours: read(v.consoleIdleHours),
    shortUrl: read(v.shortUrl) || null,
    roles: read(v.roles),
    firstEmail: read(v.firstEmail),
    hasSimulator,
    simulatorPort: read(v.simulatorPort),
    simulatorHttpPort: read(v.simulatorHttpPort),
    hasTestMode: read(v.testMode) === 'on',
    apiPerSecond: read(v.apiPerSecond),
    carrierUrl,
    webhookAllowedCidrs: isAutoCidrs ? (hasSimulator ? ['127.0.0.0/8', '::1/128'] : []) : cidrs,
    webhookPorts: read(v.webhookPorts),
    receiptTimeoutHours: read(v.receiptTimeoutHours),
    anyLengthCountries: read(v.anyLengthCountries),
    smppServer: null,
    metricsToken: read(v.metricsToken) || null,
    metricsPort: read(v.metricsPort),
    logLevel: read(v.logLevel),
    logFormat: read(v.logFormat),
  }
  if (config.shortUrl && `${config.publicUrl}/`.startsWith(`${config.shortUrl}/`))
    problems.push(`${v.shortUrl.name} has the host of the API: add /l, or use a separate host.`)
  const [certFile, keyFile] = [read(v.smppServerTlsCert), read(v.smppServerTlsKey)]
  if ((certFile === '') !== (keyFile === ''))
    problems.push(
      `${v.smppServerTlsCert.name} and ${v.smppServerTlsKey.name} must be set together; only one of them is set.`,
    )
  const [smppPort, smppHost, sessionsMax, accountSessionsMax] = [
    read(v.smppServerPort),
    read(v.smppServerHost) || host,
    read(v.smppServerSessionsMax),
    read(v.smppServerAccountSessionsMax),
  ]
  if (smppPort !== null)
    config.smppServer = {
      host: smppHost,
      port: smppPort,
      tls: certFile === '' ? null : { certFile: resolve(certFile), keyFile: resolve(keyFile) },
      sessionsMax,
      accountSessionsMax,
    }
  // Used by bin/heliogram before the program starts; checked here.
  read(v.memory)
  if (config.roles?.length === 0) problems.push(`${v.roles.name} is empty; allowed: ${v.roles.allowed}.`)
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return config
}

/** The database's address with the password from a file, if one is set; adds faults to `problems`. */
function withPassword(databaseUrl: string | undefined, file: string, problems: string[]): string | null {
  // An invalid address has its fault already.
  if (file === '' || databaseUrl === undefined) return databaseUrl || null
  const { name } = variables.databasePasswordFile
  const refuse = (reason: string): null => {
    problems.push(`${name} ${reason}`)
    return null
  }
  if (databaseUrl === '') return refuse('is set without DATABASE_URL; set both.')
  if (new URL(asUrl(databaseUrl)).password !== '')
    return refuse('is set, but DATABASE_URL has a password too; remove it there.')
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    if (text === '') return refuse(`is "${file}", which is empty; write the password into it.`)
    return changeAddress(databaseUrl, (address) => void (address.password = encodeURIComponent(text)))
  } catch (error) {
    return refuse(`is "${file}", which cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

export function describeConfig(): string {
  return Object.values(variables)
    .map(
      (one) =>
        `  ${one.name}${one.fallback && ` (default ${one.fallback})`}\n      ${one.sentence} Allowed: ${one.allowed}.`,
    )
    .join('\n')
}
