/** What the person who starts Heliogram sees: where everything is, and what to do next. */
import type { FirstAccount } from './accounts/first.ts'
import type { OwnerCode } from './accounts/login/owner-code.ts'

interface Greeting {
  /** http://host:port */
  address: string
  phonesUrl: string | null
  /** On the first start only: its secrets are shown here and nowhere again. */
  first: FirstAccount | null
  /** Until somebody has used one: how to become the owner. */
  ownerCode: OwnerCode | null
  dataPath: string | null
}

/** The text for standard output. */
export function greet({ address, phonesUrl, first, ownerCode, dataPath }: Greeting): string {
  // A shell replaces a variable between double quotes only.
  const authorization = first ? `'Authorization: Bearer ${first.key}'` : '"Authorization: Bearer $KEY"'
  const lines = [
    '',
    'Heliogram is running.',
    '',
    `  API and start page   ${address}`,
    `  Manual and reference ${address}/docs`,
    ...(phonesUrl ? [`  Simulated phones     ${phonesUrl}`] : []),
    ...(dataPath ? [`  Data                 ${dataPath}`] : []),
    '',
  ]
  if (first)
    lines.push(
      'Your account (shown once, stored only as a hash: keep it safe)',
      '',
      `  API key              ${first.key}`,
      '',
    )
  lines.push(
    'Send a message:',
    '',
    `  curl -i ${address}/v1/messages/send \\`,
    `    -H ${authorization} \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '{"to":"12025550123","message":"Hello from Heliogram"}'`,
    '',
  )
  if (phonesUrl) lines.push(`and watch it arrive on ${phonesUrl}/#12025550123`, '')
  if (ownerCode) lines.push(...tellOwner(address, ownerCode))
  lines.push('Ctrl-C stops everything.', '', '')
  return lines.join('\n')
}

/** How to become the owner, in lines. The password in it is too short to be taken. */
export const tellOwner = (address: string, { code, email }: OwnerCode): string[] => [
  'Become the owner of the account, for a login of your own: put your address and a password of 15 characters or more in place of those',
  'below (works once, for 24 hours; until then each start prints another code):',
  '',
  `  curl ${address}/v1/auth/accept-invitation \\`,
  `    -H 'Content-Type: application/json' \\`,
  `    -d '${JSON.stringify({ code, email, password: '…' }).replaceAll("'", `'\\''`)}'`,
  '',
]
