/** All environment variables, each with its default, allowed values, and a sentence. */
import ipaddr from 'ipaddr.js'
import { exampleEmail } from '../accounts/example-email.ts'
import { areHosts, hostsOf } from '../ground/db/hosts.ts'

export interface Variable<T> {
  name: string
  sentence: string
  /** Shown in the help; parsed like a value from the environment. */
  fallback: string
  allowed: string
  parse: (text: string) => T | undefined
}

/** How values are described and parsed. */
type Kind<T> = Pick<Variable<T>, 'allowed' | 'parse'>

const integer =
  (min: number, max: number) =>
  (text: string): number | undefined =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined
const whole = (min: number, max: number): Kind<number> => ({
  allowed: `a whole number from ${min} to ${max}`,
  parse: integer(min, max),
})
const oneOf =
  <T extends string>(...words: T[]) =>
  (text: string): T | undefined =>
    words.find((word) => word === text)
const words = <T extends string>(...all: T[]): Kind<T> => ({
  allowed: `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`,
  parse: oneOf(...all),
})
const listOf =
  <T>(parse: (text: string) => T | undefined) =>
  (text: string): T[] | undefined => {
    const items = text === '' ? [] : text.split(',').map((item) => parse(item.trim()))
    return items.every((item) => item !== undefined) ? items : undefined
  }
const url =
  (...schemes: string[]) =>
  (text: string): string | undefined =>
    text === '' || (!/\s/.test(text) && URL.canParse(text) && schemes.includes(new URL(text).protocol))
      ? text
      : undefined
/** An address to listen on; machines know more names than DNS. */
const host = (text: string): string | undefined => (ipaddr.isValid(text) || /^[\w.-]+$/.test(text) ? text : undefined)
/** Excludes historic short forms, by which 10 is 0.0.0.10. */
const address = (text: string): string | undefined =>
  ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text) ? text : undefined
/**
 * As psql takes it: with a user the host may be missing, and the folder of a socket replaces it; a URL does not allow that. In the
 * database's name pg keeps escapes of characters with a meaning in a URL (decodeURI). Any character is allowed, except the ends of a path.
 */
const databaseUrl = (text: string): string | undefined => {
  const named = text.replace(/(?<=^postgres(?:ql)?:\/\/[^/?#]*\/)[^?#]*/, (name) =>
    name.replace(/%(?:2f|3a|40|26|3d|2b|24|2c|3b)/gi, decodeURIComponent),
  )
  if (/^[^?#]*%(?:3f|23)/i.test(named.replace(/^\w+:\/\/[^/?#]*/, ''))) return undefined
  if (hostsOf(named)) return areHosts(named) ? named : undefined
  return url(
    'postgres:',
    'postgresql:',
  )(/[?&]host=/.test(text) ? named.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[:/?])/, '$1localhost') : named)
}
/** A carrier's address; the name goes into a bind (SMPP 3.4 §5.2.1), and so does the password. */
const carrierUrl = (text: string): string | undefined => {
  if (text === '' || url('smpp:', 'smpps:')(text) === undefined) return text === '' ? text : undefined
  const { hostname, username, password, port, pathname, search, hash } = new URL(text)
  const isBindText = /^(%[2-7][0-9a-f]|[!-$&-~])*$/i
  const isBare = ['', '/'].includes(pathname) && search === '' && hash === '' && port !== '0'
  const isRight = isBare && hostname !== '' && username !== '' && isBindText.test(username) && isBindText.test(password)
  return isRight && decodeURIComponent(username).length <= 15 && decodeURIComponent(password).length <= 64
    ? text
    : undefined
}
/** Paths are appended, and carriers sign it with the port: as written, without the trailing slash. */
const publicUrl = (text: string): string | undefined =>
  /^[^?#@]*$/.test(text) ? url('http:', 'https:')(text)?.replace(/\/$/, '') : undefined
/** A dedicated host, or /l on another; without the trailing slash. */
const shortUrl = (text: string): string | undefined =>
  /^(https?:\/\/[^/?#@]+(\/l)?\/?)?$/i.test(text) && url('http:', 'https:')(text) !== undefined
    ? text && new URL(text).href.replace(/\/$/, '')
    : undefined
const cidr = (text: string): string | undefined => (ipaddr.isValidCIDR(text) ? text : undefined)
const email = (text: string): string | undefined => (/^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined)
const path = (allowed: string): Kind<string> => ({ allowed, parse: (text) => text })

const variable = <T>(name: string, fallback: string, kind: Kind<T>, sentence: string): Variable<T> => ({
  name,
  fallback,
  ...kind,
  sentence,
})

const port: Kind<number> = { allowed: 'a port from 0 to 65535 (0: any free one)', parse: integer(0, 65535) }
const portOrNone: Kind<number | null> = {
  allowed: `empty (none), or ${port.allowed}`,
  parse: (text) => (text === '' ? null : port.parse(text)),
}
/** In the order of the help. */
export const variables = {
  databaseUrl: variable(
    'DATABASE_URL',
    '',
    {
      allowed:
        'postgres://user:password@host:port/database (no ? or # in its name), the same with several hosts (a:5432,b:5432,c:5432), or postgres://user@/database?host=/folder/of/the/socket',
      parse: databaseUrl,
    },
    'PostgreSQL 15 or newer to use instead of the embedded one. If it lists several hosts, the primary is used.',
  ),
  databasePasswordFile: variable(
    'HELIOGRAM_DATABASE_PASSWORD_FILE',
    '',
    path('a file'),
    'File with the password for DATABASE_URL, which must then have none: for mounted secrets. Read at the start.',
  ),
  databaseConnections: variable(
    'HELIOGRAM_DATABASE_CONNECTIONS',
    '20',
    whole(8, 200),
    'Maximum connections of this process.',
  ),
  dataFolder: variable(
    'HELIOGRAM_DATA',
    './.heliogram',
    path('a folder'),
    'Folder of the embedded PostgreSQL and of the master key.',
  ),
  keyFile: variable(
    'HELIOGRAM_KEY_FILE',
    '',
    path('a file'),
    'File of the master key that encrypts secrets; default: `key` in the data folder. Keep a copy elsewhere.',
  ),
  encryptContent: variable(
    'HELIOGRAM_ENCRYPT_CONTENT',
    'off',
    words('on', 'off'),
    'Encrypt message texts and contact data in the database, with a key for each account. Must be the same for all processes.',
  ),
  host: variable(
    'HELIOGRAM_HOST',
    '127.0.0.1',
    { allowed: 'an address to listen on', parse: host },
    'Address that the API listens on. Keep it on loopback unless TLS is in front.',
  ),
  port: variable('HELIOGRAM_PORT', '8080', port, 'Port of the API.'),
  publicUrl: variable(
    'HELIOGRAM_PUBLIC_URL',
    '',
    { allowed: 'https://…, or http://… inside a private network; without a user, ? or #', parse: publicUrl },
    'Address under which clients reach the API, if it is not host and port.',
  ),
  trustedProxies: variable(
    'HELIOGRAM_TRUSTED_PROXIES',
    '',
    {
      allowed: 'a comma list of addresses and CIDRs such as 127.0.0.1 or 10.0.0.0/8',
      parse: listOf((text) => address(text) ?? cidr(text)),
    },
    "Reverse proxies whose X-Forwarded-For is trusted. The caller's address is used to slow down logins and for the networks of keys.",
  ),
  consoleIdleHours: variable(
    'HELIOGRAM_CONSOLE_IDLE_HOURS',
    '12',
    whole(1, 720),
    'Hours without use after which a console login ends, even if a page is open.',
  ),
  shortUrl: variable(
    'HELIOGRAM_SHORT_URL',
    '',
    {
      allowed: 'https://go.example.com, a host for nothing else, or https://…/l on the host of the API',
      parse: shortUrl,
    },
    'Address of short links (`shorten_urls`), the same for all processes; empty: no short links.',
  ),
  roles: variable(
    'HELIOGRAM_ROLES',
    'api,links,jobs',
    { allowed: 'a comma list of api, links, jobs', parse: listOf(oneOf<Role>('api', 'links', 'jobs')) },
    'The work of this process.',
  ),
  memory: variable(
    'HELIOGRAM_MEMORY',
    'normal',
    words('small', 'normal', 'large'),
    'small: a fifth to a quarter less memory, and more time spent on saving it; large: twice as much, and less time.',
  ),
  firstEmail: variable(
    'HELIOGRAM_FIRST_EMAIL',
    exampleEmail,
    { allowed: 'an e-mail address', parse: email },
    'Address of the first owner, if none is given with the one-time code that the first start prints. With the default, one must be given.',
  ),
  simulator: variable(
    'HELIOGRAM_SIMULATOR',
    'auto',
    words('on', 'off', 'auto'),
    'Start the simulated carrier too; auto: only if HELIOGRAM_CARRIER_URL is not set.',
  ),
  simulatorPort: variable('HELIOGRAM_SIMULATOR_PORT', '2775', port, 'SMPP port of the simulated carrier.'),
  simulatorHttpPort: variable(
    'HELIOGRAM_SIMULATOR_HTTP_PORT',
    '8081',
    port,
    "Port of the simulated carrier's phones in the browser.",
  ),
  testMode: variable(
    'HELIOGRAM_TEST_MODE',
    'on',
    words('on', 'off'),
    'Whether test keys can send, to a simulator that starts with their first message. Must be the same for all processes.',
  ),
  apiPerSecond: variable(
    'HELIOGRAM_API_PER_SECOND',
    '100',
    whole(1, 1_000_000),
    'Requests a second of one credential, over all processes, unless its account has its own limit; bursts can be twice as many.',
  ),
  carrierUrl: variable(
    'HELIOGRAM_CARRIER_URL',
    '',
    { allowed: 'smpp://system_id:password@host:port or smpps://…', parse: carrierUrl },
    'Carrier created on the first start; afterwards use /v1/carriers.',
  ),
  webhookAllowedCidrs: variable(
    'HELIOGRAM_WEBHOOK_ALLOW_CIDRS',
    'auto',
    {
      allowed: 'auto, or a comma list of CIDRs such as 10.0.0.0/8',
      parse: (text) => (text === 'auto' ? [] : listOf(cidr)(text)),
    },
    'Private networks that webhooks can reach, also by plain http; auto: loopback if the simulator runs, otherwise none.',
  ),
  webhookPorts: variable(
    'HELIOGRAM_WEBHOOK_PORTS',
    '443,8443',
    { allowed: 'a comma list of ports', parse: listOf(integer(1, 65535)) },
    'Ports of public addresses that webhooks can reach.',
  ),
  receiptTimeoutHours: variable(
    'HELIOGRAM_RECEIPT_TIMEOUT_HOURS',
    '72',
    whole(1, 720),
    'Hours after which a sent message without a receipt becomes unconfirmed.',
  ),
  anyLengthCountries: variable(
    'HELIOGRAM_ANY_LENGTH_COUNTRIES',
    '',
    {
      allowed: 'a comma list of ISO 3166-1 codes such as LV,SE',
      parse: listOf((text) => (/^[A-Z]{2}$/.test(text) ? text : undefined)),
    },
    'Countries whose numbers can be longer or shorter than their plan, up to 15 digits, as numbers of machines often are. Must be the same for all processes.',
  ),
  smppServerPort: variable(
    'HELIOGRAM_SMPP_SERVER_PORT',
    '',
    portOrNone,
    'Port on which processes with the role api accept binds of SMPP clients, with credentials from /v1/smpp-credentials.',
  ),
  smppServerHost: variable(
    'HELIOGRAM_SMPP_SERVER_HOST',
    '',
    { allowed: 'an address to listen on', parse: (text) => (text === '' ? text : host(text)) },
    'Address of that port, if it is not HELIOGRAM_HOST. SMPP passwords are short and sent in the clear: addresses other than loopback need TLS or a private network.',
  ),
  smppServerTlsCert: variable(
    'HELIOGRAM_SMPP_SERVER_TLS_CERT',
    '',
    path('a file'),
    'Certificate chain (PEM) of that port, which then speaks only TLS; read at the start.',
  ),
  smppServerTlsKey: variable(
    'HELIOGRAM_SMPP_SERVER_TLS_KEY',
    '',
    path('a file'),
    'Private key (PEM) of that certificate.',
  ),
  smppServerSessionsMax: variable(
    'HELIOGRAM_SMPP_SERVER_SESSIONS_MAX',
    '1000',
    whole(1, 10_000),
    'Maximum connections to that port; further ones are closed at once.',
  ),
  smppServerAccountSessionsMax: variable(
    'HELIOGRAM_SMPP_SERVER_ACCOUNT_SESSIONS_MAX',
    '250',
    whole(1, 10_000),
    'Maximum sessions of one account among them; further binds are refused, so that no account blocks the others.',
  ),
  metricsToken: variable(
    'HELIOGRAM_METRICS_TOKEN',
    '',
    {
      allowed: 'empty (none), or 16 to 200 visible characters of ASCII',
      parse: (text) => (text === '' || /^[!-~]{16,200}$/.test(text) ? text : undefined),
    },
    'Bearer token with which Prometheus reads /metrics. An API key with the scope carriers:read works too. Without the variable, programs on this machine need no token while HELIOGRAM_HOST is loopback and HELIOGRAM_PUBLIC_URL is not set.',
  ),
  metricsPort: variable(
    'HELIOGRAM_METRICS_PORT',
    '',
    portOrNone,
    'Port on HELIOGRAM_HOST for /metrics and /healthz only; processes without the role api have no other.',
  ),
  logLevel: variable(
    'HELIOGRAM_LOG',
    'info',
    words<LogLevel>('debug', 'info', 'warn', 'error', 'silent'),
    'Detail of the log; debug shows every PDU by name.',
  ),
  logFormat: variable(
    'HELIOGRAM_LOG_FORMAT',
    'auto',
    words('auto', 'json', 'text'),
    'json: one object a line, for programs; text: a short line for people; auto: text on a terminal, otherwise json.',
  ),
  node: variable(
    'HELIOGRAM_NODE',
    '',
    path('a program'),
    'Node.js 24.12 or newer to use instead of the one included with Heliogram.',
  ),
}

/** Variables of API clients such as the command line, which may be set in the shell that starts the service. */
export const clientVariables: readonly string[] = ['HELIOGRAM_API_KEY', 'HELIOGRAM_URL', 'HELIOGRAM_PROFILE']

/** All three by default; on several machines each process has its own. */
export type Role = 'api' | 'links' | 'jobs'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
