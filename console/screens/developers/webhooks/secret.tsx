import { Secrets } from '../../../kit/secret.tsx'

interface WebhookSecretProps {
  secret: string
  onClose: () => void
  close?: string
}

export const WebhookSecret = ({ secret, ...rest }: WebhookSecretProps) => (
  <Secrets title="Signing secret" secrets={[['Secret', secret]]} {...rest}>
    <p>
      Use it on your server to verify each request (Standard Webhooks).{' '}
      <a href="/docs/webhooks" target="_blank" rel="noreferrer">
        See the code in five languages
      </a>
    </p>
  </Secrets>
)
