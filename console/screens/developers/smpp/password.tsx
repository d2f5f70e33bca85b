import { Secrets } from '../../../kit/secret.tsx'

interface SmppPasswordProps {
  of: { system_id: string; password: string }
  onClose: () => void
  close?: string
}

export const SmppPassword = ({ of: { system_id, password }, ...rest }: SmppPasswordProps) => (
  <Secrets
    title="What it binds with"
    secrets={[
      ['system_id', system_id],
      ['password', password],
    ]}
    {...rest}
  >
    <p>
      The port is the operator’s <code>HELIOGRAM_SMPP_SERVER_PORT</code>.{' '}
      <a href="/docs/api/smpp-clients" target="_blank" rel="noreferrer">
        What it may send, and what comes
      </a>
    </p>
  </Secrets>
)
