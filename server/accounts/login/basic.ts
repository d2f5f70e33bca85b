/** RFC 7617; the form encoding of RFC 6749 §2.3.1 changes nothing in our credentials. */
export function basicOf(authorization: string | undefined): { clientId: string; clientSecret: string } | null {
  const match = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')
  const [clientId, clientSecret] = Buffer.from(match?.[1] ?? '', 'base64')
    .toString('utf8')
    .split(':')
  return clientId && clientSecret ? { clientId, clientSecret } : null
}
