import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { ConfigError, describeConfig, readConfig } from './config.ts'

describe('the settings', () => {
  it('have a default each', () => {
    expect(readConfig({ PATH: '/bin' })).toMatchObject({
      databaseUrl: null,
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://127.0.0.1:8080',
      roles: ['api', 'links', 'jobs'],
      hasSimulator: true,
      simulatorPort: 2775,
      simulatorHttpPort: 8081,
      carrierUrl: null,
      webhookAllowedCidrs: ['127.0.0.0/8', '::1/128'],
      webhookPorts: [443, 8443],
      receiptTimeoutHours: 72,
      consoleIdleHours: 12,
      smppServer: null,
      logLevel: 'info',
      logFormat: 'auto',
    })
  })

  it('are read from the environment; an empty one is the default', () => {
    const config = readConfig({
      DATABASE_URL: 'postgres://user:pw@db.example.com/heliogram',
      HELIOGRAM_DATA: '/srv/heliogram',
      HELIOGRAM_HOST: '::',
      HELIOGRAM_PORT: ' 9000 ',
      HELIOGRAM_ROLES: 'links, jobs',
      HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8',
      HELIOGRAM_WEBHOOK_PORTS: '443',
      HELIOGRAM_LOG: '',
    })
    expect(config).toMatchObject({
      databaseUrl: 'postgres://user:pw@db.example.com/heliogram',
      dataFolder: '/srv/heliogram',
      keyFile: '/srv/heliogram/key',
      publicUrl: 'http://localhost:9000',
      port: 9000,
      roles: ['links', 'jobs'],
      webhookAllowedCidrs: ['10.0.0.0/8', 'fd00::/8'],
      webhookPorts: [443],
      logLevel: 'info',
      logFormat: 'auto',
    })
  })

  it.each([
    ['HELIOGRAM_HOST', ['not a host', 'http://x']],
    ['HELIOGRAM_SMPP_SERVER_HOST', ['0.0.0.0:2776']],
    ['HELIOGRAM_PUBLIC_URL', ['https://sms.example.com/ x']],
    ['HELIOGRAM_TRUSTED_PROXIES', ['10', '1.2.3', '0x7f.1']],
    [
      'HELIOGRAM_CARRIER_URL',
      ['smpp://me:secret@carrier:0', 'smpp://me:secret@carrier/path', 'smpp://me:secret@carrier?x'],
    ],
  ])('refuse %s if it is mistyped', (name, values) => {
    for (const value of values) expect(() => readConfig({ [name]: value })).toThrow(`${name} is "`)
  })

  it('give a reachable address if every address is listened on', () => {
    const publicUrls = ['0.0.0.0', '::', '::1'].map((host) => readConfig({ HELIOGRAM_HOST: host }).publicUrl)
    expect(publicUrls).toEqual(['http://localhost:8080', 'http://localhost:8080', 'http://[::1]:8080'])
  })

  it('let SMPP clients bind if a port is set, beside the API by default', () => {
    const plain = { HELIOGRAM_SMPP_SERVER_PORT: '2776' }
    expect(readConfig(plain).smppServer).toEqual({
      host: '127.0.0.1',
      port: 2776,
      tls: null,
      sessionsMax: 1000,
      accountSessionsMax: 250,
    })
    const secure = {
      ...plain,
      HELIOGRAM_SMPP_SERVER_HOST: '0.0.0.0',
      HELIOGRAM_SMPP_SERVER_TLS_CERT: '/etc/smpp/cert.pem',
      HELIOGRAM_SMPP_SERVER_TLS_KEY: '/etc/smpp/key.pem',
      HELIOGRAM_SMPP_SERVER_SESSIONS_MAX: '50',
      HELIOGRAM_SMPP_SERVER_ACCOUNT_SESSIONS_MAX: '20',
    }
    expect(readConfig(secure).smppServer).toEqual({
      host: '0.0.0.0',
      port: 2776,
      tls: { certFile: '/etc/smpp/cert.pem', keyFile: '/etc/smpp/key.pem' },
      sessionsMax: 50,
      accountSessionsMax: 20,
    })
    expect(problemsOf({ ...plain, HELIOGRAM_SMPP_SERVER_TLS_KEY: 'key.pem' })).toEqual([
      expect.stringContaining('must be set together'),
    ])
  })

  it('read the database’s password from a file, with any content, and report faults of the file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'heliogram-config-'))
    const file = join(folder, 'password')
    const env = { DATABASE_URL: 'postgres://sms@db.example.com/sms', HELIOGRAM_DATABASE_PASSWORD_FILE: file }
    try {
      expect(problemsOf(env)).toEqual([
        expect.stringMatching(/^HELIOGRAM_DATABASE_PASSWORD_FILE is .* cannot be read:/),
      ])
      writeFileSync(file, '\n')
      expect(problemsOf(env)).toEqual([expect.stringContaining('which is empty')])
      writeFileSync(file, 'p@ss/%2f:w ö?#\n')
      const { password, host } = new Client({ connectionString: readConfig(env).databaseUrl ?? '' })
      expect({ password, host }).toEqual({ password: 'p@ss/%2f:w ö?#', host: 'db.example.com' })
      const socket = { ...env, DATABASE_URL: 'postgres://sms@/sms?host=/run/postgresql' }
      const local = new Client({ connectionString: readConfig(socket).databaseUrl ?? '' })
      expect([local.password, local.host]).toEqual(['p@ss/%2f:w ö?#', '/run/postgresql'])
      const several = { ...env, DATABASE_URL: 'postgres://sms@a:5433,b/sms' }
      expect(readConfig(several).databaseUrl).toBe('postgres://sms:p%40ss%2F%252f%3Aw%20%C3%B6%3F%23@a:5433,b:5432/sms')
      expect(problemsOf({ ...env, DATABASE_URL: '' })).toEqual([expect.stringContaining('without DATABASE_URL')])
      const both = problemsOf({ ...env, DATABASE_URL: 'postgres://sms:hunter2@db.example.com/sms' })
      expect(both).toEqual([expect.stringContaining('has a password too')])
      expect(both.join()).not.toContain('hunter2')
      // An invalid address is the fault to report.
      expect(problemsOf({ ...env, DATABASE_URL: 'mysql://x/y' })).toEqual([
        expect.stringContaining('DATABASE_URL is "'),
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('start no simulator beside a real carrier by default, and then open no private network', () => {
    const carrier = { HELIOGRAM_CARRIER_URL: 'smpps://me:secret@smsc.example.com:3550' }
    expect(readConfig(carrier)).toMatchObject({ hasSimulator: false, webhookAllowedCidrs: [] })
    expect(readConfig({ ...carrier, HELIOGRAM_SIMULATOR: 'on' }).hasSimulator).toBe(true)
    expect(readConfig({ HELIOGRAM_SIMULATOR: 'off' }).hasSimulator).toBe(false)
  })
})

describe('wrong settings', () => {
  it('are all named at once, with the allowed values', () => {
    const problems = problemsOf({
      HELIOGRAM_PORT: '70000',
      HELIOGRAM_ROLES: 'api,boss',
      HELIOGRAM_LOG: 'loud',
      HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '10.0.0.0',
      HELIOGRAM_PROT: '1',
      HELIOGRAM_FIRST_EMAIL: 'me',
    })
    expect(problems.map((problem) => problem.split(' ')[0] ?? '').sort()).toEqual([
      'HELIOGRAM_FIRST_EMAIL',
      'HELIOGRAM_LOG',
      'HELIOGRAM_PORT',
      'HELIOGRAM_PROT',
      'HELIOGRAM_ROLES',
      'HELIOGRAM_WEBHOOK_ALLOW_CIDRS',
    ])
    expect(problems.find((problem) => problem.startsWith('HELIOGRAM_PORT'))).toBe(
      'HELIOGRAM_PORT is "70000"; allowed: a port from 0 to 65535 (0: any free one).',
    )
  })

  it('exclude the command line’s, which may be set in the same shell', () => {
    const client = { HELIOGRAM_URL: 'https://sms.example.com', HELIOGRAM_API_KEY: 'hg_live_x', HELIOGRAM_PROFILE: 'x' }
    expect(readConfig(client)).toEqual(readConfig({}))
  })

  it.each([
    ['HELIOGRAM_PORT', '-1'],
    ['HELIOGRAM_PORT', '80.5'],
    ['HELIOGRAM_PORT', '0x50'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'localhost'],
    ['HELIOGRAM_CARRIER_URL', 'http://example.com'],
    ['HELIOGRAM_CARRIER_URL', 'smpp://example.com:2775'],
    ['HELIOGRAM_CARRIER_URL', 'smpp://nameoversixteencharacters:pw@example.com'],
    ['HELIOGRAM_CARRIER_URL', 'smpp://me:p%C3%A4ss@example.com'],
    ['HELIOGRAM_CARRIER_URL', 'smpp://me:100%@example.com'],
    ['HELIOGRAM_PUBLIC_URL', 'ftp://example.com'],
    ['HELIOGRAM_PUBLIC_URL', 'https://me:pw@example.com'],
    ['HELIOGRAM_PUBLIC_URL', 'https://example.com/?a=b'],
    ['HELIOGRAM_PUBLIC_URL', 'https://example.com/#a'],
    ['HELIOGRAM_SIMULATOR', 'yes'],
    ['HELIOGRAM_DATABASE_CONNECTIONS', '4'],
    ['HELIOGRAM_RECEIPT_TIMEOUT_HOURS', '0'],
    ['HELIOGRAM_WEBHOOK_PORTS', '443,0'],
    ['HELIOGRAM_SMPP_SERVER_PORT', '70000'],
    ['HELIOGRAM_SMPP_SERVER_SESSIONS_MAX', '0'],
    ['HELIOGRAM_ROLES', ','],
  ])('%s=%s', (name, value) => {
    const problems = problemsOf({ [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name} is .*; allowed: `))
  })

  it('accept a public address with or without a trailing slash, and below a path', () =>
    expect(
      ['https://example.com/', 'https://example.com', 'https://example.com/sms/'].map(
        (HELIOGRAM_PUBLIC_URL) => readConfig({ HELIOGRAM_PUBLIC_URL }).publicUrl,
      ),
    ).toEqual(['https://example.com', 'https://example.com', 'https://example.com/sms']))

  it('hide passwords and tokens', () => {
    const text = problemsOf({
      DATABASE_URL: 'mysql://me:hunter2@localhost/x',
      HELIOGRAM_CARRIER_URL: 'http://me:hunter2@localhost',
      HELIOGRAM_METRICS_TOKEN: 'hunter2',
    }).join('\n')
    expect(text).toContain('mysql://me:***@localhost/x')
    expect(text).not.toContain('hunter2')
  })

  it.each([
    ['postgres://me@/sms?host=/run/postgresql', 'postgres://me@localhost/sms?host=/run/postgresql'],
    ['postgres://me:pw@:5433/sms?host=/run/postgresql', 'postgres://me:pw@localhost:5433/sms?host=/run/postgresql'],
    ['postgres:///sms?host=/run/postgresql', 'postgres:///sms?host=/run/postgresql'],
  ])('name a socket’s folder as psql does: %s', (DATABASE_URL, databaseUrl) =>
    expect(readConfig({ DATABASE_URL })).toMatchObject({ databaseUrl }),
  )

  it.each(['/', ':', '@', '&', '=', '+', '$', ',', ';', ' ', '%', 'é', '"'])(
    'name a database with %s in its name as psql does',
    (sign) => {
      const DATABASE_URL = `postgres://me:p%2Fw@localhost/a${encodeURIComponent(sign)}b?options=-c%20x%3D%2F`
      const { databaseUrl } = readConfig({ DATABASE_URL })
      const { database, password, host } = new Client({ connectionString: new URL(databaseUrl ?? '').href })
      expect({ database, password, host }).toEqual({ database: `a${sign}b`, password: 'p/w', host: 'localhost' })
    },
  )

  it.each(['%3F', '%23'])('refuse a database with %s in its name, which the driver cannot name', (sign) =>
    expect(problemsOf({ DATABASE_URL: `postgres://localhost/a${sign}b` }).join()).toContain('no ? or # in its name'),
  )

  it.each([
    'postgres://me:p,w@a:5432,b:5433,c/sms',
    'postgresql://a,[::1]:5433/sms?target_session_attrs=read-write&sslmode=verify-full',
  ])('list a database’s hosts as psql does: %s', (DATABASE_URL) =>
    expect(readConfig({ DATABASE_URL })).toMatchObject({ databaseUrl: DATABASE_URL }),
  )

  it.each([
    'a,,b',
    'a,b:0',
    'a,b:65536',
    'a,b:x',
    'a,A:5432',
    'a,b/sms?host=/run/postgresql',
    'a,b/sms?port=1,2',
    'a,b/sms?target_session_attrs=standby',
  ])('refuse %s as a database’s hosts, without showing its password', (list) => {
    const DATABASE_URL = `postgres://me:hunter2@${list.includes('/') ? list : `${list}/sms`}`
    const [problem = ''] = problemsOf({ DATABASE_URL })
    expect(problem).toContain('DATABASE_URL is "postgres://me:***@a,')
    expect(problem).toContain('several hosts (a:5432,b:5432,c:5432)')
  })

  it('explain how to name a database after another spelling', () =>
    expect(problemsOf({ DATABASE_URL: 'host=/run/postgresql dbname=sms password=hunter2' })).toEqual([
      'DATABASE_URL is "host=/run/postgresql dbname=sms password=***"; allowed: postgres://user:password@host:port/database (no ? or # in its name), the same with several hosts (a:5432,b:5432,c:5432), or postgres://user@/database?host=/folder/of/the/socket.',
    ]))

  // An unescaped character in an address is often the very fault.
  it.each(['postgres://me:hunter/2@localhost/x', 'mysql://me:hunter@2@localhost/x', 'me:hunter2@localhost'])(
    'hide a password that makes the address invalid: %s',
    (DATABASE_URL) => expect(problemsOf({ DATABASE_URL }).join('\n')).toMatch(/me:\*\*\*@localhost/),
  )
})

it('describes every variable with its default', () => {
  expect(describeConfig()).toContain('HELIOGRAM_PORT (default 8080)\n      Port of the API. Allowed: a port')
})

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n')
  }
}
