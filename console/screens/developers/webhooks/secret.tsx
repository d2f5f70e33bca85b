import { Secrets } from '../../../kit/secret.tsx'

interface WebhookSecretProps {
  secret: string
  onClose: () => void
  close?: string
}

export const WebhookSecret = ({ secret, ...rest }: WebhookSecretProps) => (
  <Secrets title="The secret that signs its posts" secrets={[['Secret', secret]]} {...rest}>
    <p>
      Your server checks each post with it, as Standard Webhooks says:{' '}
      <a href="/docs/webhooks" target="_blank" rel="noreferrer">
        how, in five languages
      </a>
      .
    </p>
  </Secrets>
)
