/** A link's last error in words; the API has the session's form (`connect_failed: ECONNREFUSED`). */

const words: Record<string, string> = {
  connect_failed: 'No connection can be made',
  tls_failed: 'TLS was not agreed upon, or the certificate is not trusted',
  bind_refused: 'The carrier refused the login',
  bind_invalid: 'The login cannot be written as SMPP wants it',
  bind_timeout: 'The carrier did not answer the login in time',
  unbound: 'Heliogram ended the session',
  peer_unbound: 'The carrier ended the session',
  peer_closed: 'The carrier closed the connection',
  socket_error: 'The connection broke',
  framing_error: 'What came was no SMPP',
  partial_pdu: 'What the carrier began to send never ended',
  enquire_timeout: 'The carrier did not answer heartbeats',
  cannot_start: 'It cannot be started',
  unmatched: 'A receipt matched no message',
}

const causes: Record<string, string> = {
  ECONNREFUSED: 'nothing listens at its address',
  ECONNRESET: 'it was cut off',
  EHOSTUNREACH: 'its address is not reached',
  ENETUNREACH: 'its network is not reached',
  ENOTFOUND: 'there is no such host',
  ETIMEDOUT: 'nobody answered',
}

/** Words for people, then a term to search for. Unknown errors stay unchanged. */
export function tellLinkError(error: string): string {
  const [, reason = '', detail = ''] = /^(\w+)(?:: (.*))?$/s.exec(error) ?? []
  const said = words[reason]
  if (said === undefined) return error
  const cause = causes[detail]
  return `${said}${cause === undefined ? '' : `: ${cause}`} (${error})`
}
