/**
 * Kannel, the gateway people run today, at its honest best: every setting below was chosen by measuring. Its defaults would be unfair (a window
 * of 10 makes it nine times slower).
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePorts, readPage, waitUntil, type Ends, type Product, type Running } from './product.ts'

/** The file store writes immediately and never fsyncs. */
export const kannel: Product = { name: 'Kannel (file store)', start }

const bearerbox = '/usr/sbin/bearerbox'
const smsbox = '/usr/sbin/smsbox'
const secret = 'bench'

/** Installs Debian's kannel if it is missing; throws advice if that needs another user. */
function installKannel(): void {
  if (existsSync(bearerbox) && existsSync(smsbox)) return
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', 'kannel']
  if (process.getuid?.() !== 0)
    throw new Error(`Kannel is missing. Install it, then run this again: sudo ${command.join(' ')}`)
  console.log(`Kannel is missing; installing it: ${command.join(' ')}`)
  const result = spawnSync(command[0] ?? '', command.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] })
  if (result.status !== 0) throw new Error('apt-get could not install kannel (has `apt-get update` been run?)')
}

export function readKannelVersion(): string {
  return spawnSync('dpkg-query', ['-W', '-f', '${Version}', 'kannel'], { encoding: 'utf8' }).stdout || 'unknown'
}

type Ports = { admin: number; box: number; sendsms: number }

async function start(ends: Ends): Promise<Running> {
  installKannel()
  const folder = mkdtempSync(join(tmpdir(), 'heliogram-bench-kannel-'))
  const [admin = 0, box = 0, sendsms = 0] = await findFreePorts(3)
  const file = join(folder, 'kannel.conf')
  writeFileSync(file, renderConfiguration(folder, { admin, box, sendsms }, ends.carrierPort))
  const status = () => readPage(`http://127.0.0.1:${admin}/status.txt?password=${secret}`)

  const children: ChildProcess[] = []
  const run = (box: string) => {
    const child = spawn(box, [file], { stdio: 'ignore', detached: true })
    process.once('exit', () => child.kill())
    children.push(child)
  }
  const stop = async () => {
    for (const child of children.reverse()) await end(child)
    rmSync(folder, { recursive: true })
  }
  try {
    run(bearerbox)
    await waitUntil('bearerbox to bind to the carrier', async () => (await status()).includes('(online'))
    run(smsbox)
    await waitUntil('smsbox to join bearerbox', async () => /smsbox(:\(none\))?, IP/.test(await status()))
    await waitUntil('smsbox to take requests', async () => (await readPage(`http://127.0.0.1:${sendsms}/`)) !== '')
  } catch (error) {
    const log = readFileSync(join(folder, 'bearerbox.log'), 'utf8').slice(-2000)
    await stop()
    throw new Error(`Kannel did not start:\n${log}`, { cause: error })
  }

  const callbackUrl = `http://127.0.0.1:${ends.receiverPort}/receipt?number={number}&state=%d`
  const query = [
    `username=${secret}&password=${secret}&from=15557654321&to={to}`,
    'text=Heliogram+benchmark+message+{number}',
    // Delivered and failed, without intermediate states: one callback per message.
    `dlr-mask=3&dlr-url=${encodeURIComponent(callbackUrl).replace('%7Bnumber%7D', '{number}')}`,
  ]
  return {
    request: {
      port: sendsms,
      method: 'GET',
      path: `/cgi-bin/sendsms?${query.join('&')}`,
      headers: { connection: 'keep-alive' },
    },
    acceptedStatus: 202,
    callback: { marker: 'number=', delivered: '&state=1 ' },
    rootPids: children.map((child) => child.pid ?? 0),
    countLeft: async () => countQueued(await status()),
    stop,
  }
}

/** Messages and receipts that the status page counts as queued or stored. */
function countQueued(page: string): number {
  let sum = 0
  for (const [, queued, stored] of page.matchAll(/(\d+) queued|store size (\d+)/g)) sum += Number(queued ?? stored)
  return sum
}

function renderConfiguration(folder: string, ports: Ports, carrierPort: number): string {
  const core = {
    'admin-port': ports.admin,
    'admin-interface': '127.0.0.1',
    'admin-password': secret,
    'smsbox-port': ports.box,
    'smsbox-interface': '127.0.0.1',
    'smsbox-max-pending': 1000,
    'sms-outgoing-queue-limit': 10_000_000,
    'store-type': 'file',
    'store-location': join(folder, 'store'),
    'store-dump-freq': 10,
    'dlr-storage': 'internal',
    'log-file': join(folder, 'bearerbox.log'),
    'log-level': 4,
  }
  const link = {
    smsc: 'smpp',
    'smsc-id': 'sink',
    host: '127.0.0.1',
    port: carrierPort,
    'transceiver-mode': 1,
    'smsc-username': secret,
    'smsc-password': secret,
    'system-type': '""',
    'max-pending-submits': 1000,
    // The sink's ids are decimal in both PDUs; with a wrong type every receipt would be unmatched.
    'msg-id-type': '0x00',
  }
  const box = {
    'bearerbox-host': '127.0.0.1',
    'bearerbox-port': ports.box,
    'sendsms-port': ports.sendsms,
    'sendsms-interface': '127.0.0.1',
    'max-pending-requests': 1000,
    'log-file': join(folder, 'smsbox.log'),
    'log-level': 4,
  }
  const user = { username: secret, password: secret, concatenation: 1, 'max-messages': 10 }
  return [
    renderGroup('core', core),
    renderGroup('smsc', link),
    renderGroup('smsbox', box),
    renderGroup('sendsms-user', user),
  ].join('\n')
}

/** An empty line would end the group. */
function renderGroup(group: string, settings: Record<string, string | number>): string {
  const lines = Object.entries({ group, ...settings }).map(([name, value]) => `${name} = ${value}\n`)
  return lines.join('')
}

/** Kills a child that has not ended within five seconds. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(force)
}
