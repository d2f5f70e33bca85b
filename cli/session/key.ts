import { createClient, type Answer } from '@heliogram/sdk'

/** The account and scopes of a valid key, from a login that is ended immediately. */
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
