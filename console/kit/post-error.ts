/** A webhook's last error in words; the API has one word (`timeout`), or `status 500`. */

const words: Record<string, string> = {
  redirect: 'it answers with a redirect, which is not followed',
  timeout: 'it does not answer within 15 seconds',
  refused: 'nothing listens at its address',
  reset: 'it cuts the connection off',
  dns: 'its host name is not found',
  tls: 'its certificate is not trusted',
  private_address: 'its address is a private one',
  not_allowed: 'its address is not allowed',
  too_large: 'its answer has headers that are too large',
  protocol: 'its answer is not HTTP',
}

export function tellPostError(error: string | null): string {
  if (error === null) return 'its posts fail'
  return words[error] ?? `it answers with ${error}`
}
