/** What an API key is for. */
import { createClient, type Answer } from '@heliogram/sdk'

/** The account and the scopes of a key, which has to work: told by a login that is ended at once. */
export async function lookAtKey(
  url: string,
  key: string,
): Promise<{ account: Answer<'login'>['account']; scopes: string[] }> {
  const [, , prefix = ''] = key.split('_')
  const body = { client_id: prefix, client_secret: key }
  const answer = await createClient({ baseUrl: url }).call('login', { body })
  await createClient({ baseUrl: url, token: answer.access_token }).call('logout')
  return { account: answer.account, scopes: answer.scope.split(' ') }
}
