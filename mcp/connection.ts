export interface Connection {
  baseUrl: string
  /** An API key or an access token. */
  token: string
}

/** The connection from the environment, or all its faults; `isKeyMissing` if there is no credential. */
export function readConnection(
  environment: Record<string, string | undefined> = process.env,
): Connection | { faults: string[]; isKeyMissing: boolean } {
  const faults: string[] = []
  // May be pasted with spaces.
  const token = environment['HELIOGRAM_API_KEY']?.trim() ?? ''
  const baseUrl = environment['HELIOGRAM_URL']?.trim() || 'http://127.0.0.1:8080'
  if (token === '')
    faults.push(
      'HELIOGRAM_API_KEY is not set. Create a key for the assistant in the console, or with POST /v1/api-keys.',
    )
  else if (!/^[!-~]+$/.test(token)) faults.push('HELIOGRAM_API_KEY has invalid characters.')
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    faults.push('HELIOGRAM_URL must be an address, such as https://sms.example.com.')
  else if (url.username !== '' || url.search !== '' || url.hash !== '')
    faults.push('HELIOGRAM_URL must be only an address: no user, no password, nothing after ? or #.')
  if (faults.length > 0) return { faults, isKeyMissing: token === '' && faults.length === 1 }
  return { baseUrl, token }
}

/** Whether a key would travel to another machine unencrypted. */
export function isInTheClear(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
