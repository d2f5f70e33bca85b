/** A new key, shown once, with a first call. */
import { Copy } from './show.tsx'
import { Secrets } from './secret.tsx'

interface KeySecretProps {
  secret: string
  scopes: readonly string[]
  onClose: () => void
  close?: string
}

const callOf = (secret: string, scopes: readonly string[]): string =>
  scopes.includes('messages:write')
    ? `curl ${location.origin}/v1/messages/send -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"to":"12025550188","message":"Hello"}'`
    : `curl ${location.origin}/v1/${scopes.includes('settings:read') ? 'settings' : 'messages'} -H 'Authorization: Bearer ${secret}'`

export const KeySecret = ({ secret, scopes, ...rest }: KeySecretProps) => (
  <Secrets title="The key" secrets={[['API key', secret]]} {...rest}>
    <div>
      <p className="small">Try it:</p>
      <Copy text={callOf(secret, scopes)} />
    </div>
  </Secrets>
)
