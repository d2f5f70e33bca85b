/** The text at start: addresses, and the next steps. */
import { styleText } from 'node:util'
import type { FirstAccount } from '../accounts/first.ts'
import type { OwnerCode } from '../accounts/login/owner-code.ts'
import { findFixedNode } from './runtime.ts'

interface Greeting {
  /** http://host:port */
  address: string
  /** For people: through a proxy, if there is one. */
  publicUrl: string
  phonesUrl: string | null
  /** On the first start only: its secrets are shown once, here. */
  first: FirstAccount | null
  /** How to become the owner, until a code has been used. */
  ownerCode: OwnerCode | null
  /** A live carrier, if no account has a number; null: there is none, or an account has one. */
  carrierWithoutNumber: string | null
  dataPath: string | null
  nodeVersion: string
}

// At a terminal only.
const bold = (text: string): string => styleText('bold', text)

/** The text for standard output: first for a browser, then for the terminal. */
export function greet({
  address,
  publicUrl,
  phonesUrl,
  first,
  ownerCode,
  carrierWithoutNumber,
  dataPath,
  nodeVersion,
}: Greeting): string {
  // A shell expands variables only in double quotes.
  const authorization = first ? `'Authorization: Bearer ${first.key}'` : '"Authorization: Bearer $KEY"'
  const command = (path: string, body: object): string[] => [
    `  curl -i ${address}${path} \\`,
    `    -H ${authorization} \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(body)}'`,
    '',
  ]
  const fixedNode = findFixedNode(nodeVersion)
  const lines = ['', bold('Heliogram is running.'), '']
  if (ownerCode)
    lines.push(
      bold('Create your login for the console') +
        ' (this link works once, for 24 hours; until then each start prints a new one):',
      '',
      `  ${styleText('cyan', joinUrl(publicUrl, ownerCode))}`,
      '',
    )
  if (first)
    lines.push(
      bold('For the terminal'),
      '',
      `  API key              ${first.key}`,
      '                       Keep it: it is shown only now, and stored as a hash.',
      `  Log in with it       ./bin/heliogram login ${address} --key`,
      '',
    )
  if (carrierWithoutNumber)
    lines.push(
      'Before you send, assign your number from the carrier to your account: without it, replies and STOP reach nobody.',
      '',
      ...command('/v1/senders', { number: '…', carrier: carrierWithoutNumber }),
    )
  // A number for fiction: a real one would cost money, or disturb someone.
  const to = phonesUrl ? '12025550123' : '…'
  lines.push(
    bold(phonesUrl ? 'Send a message' : 'Send a message to your own phone') +
      (first ? '' : ' (with your API key in $KEY)'),
    '',
    ...command('/v1/messages/send', { to, message: 'Hello from Heliogram' }),
  )
  if (phonesUrl) lines.push(bold('See it arrive, and reply'), '', `  ${phonesUrl}/#12025550123`, '')
  lines.push(
    bold('Addresses'),
    '',
    `  Console              ${publicUrl}/console/`,
    `  API and start page   ${address}`,
    `  Manual and reference ${address}/docs`,
    ...(phonesUrl ? [`  Simulated phones     ${phonesUrl}`] : []),
    ...(dataPath ? [`  Data                 ${dataPath}`] : []),
    '',
    ...(fixedNode === null
      ? []
      : [
          `This is Node.js ${nodeVersion}; ${fixedNode} has security fixes that it lacks (SECURITY.md, "Node.js").`,
          '',
        ]),
    'Ctrl-C stops everything.',
    '',
    '',
  )
  return lines.join('\n')
}

const joinUrl = (address: string, { code }: OwnerCode): string => `${address}/console/join#${code}`

/** The lines of `owner-code`. Its example password is too short to be accepted. */
export const tellOwner = (address: string, owner: OwnerCode): string[] => [
  'Create your login for the console (this link works once, for 24 hours):',
  '',
  `  ${joinUrl(address, owner)}`,
  '',
  'Without a browser: replace the address and the password (15 characters or more) below.',
  '',
  `  curl ${address}/v1/auth/accept-invitation \\`,
  `    -H 'Content-Type: application/json' \\`,
  `    -d '${JSON.stringify({ code: owner.code, email: owner.email, password: '…' }).replaceAll("'", `'\\''`)}'`,
  '',
]
