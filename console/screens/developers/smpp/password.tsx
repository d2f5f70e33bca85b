import { Secrets } from '../../../kit/secret.tsx'

interface SmppPasswordProps {
  of: { system_id: string; password: string }
  onClose: () => void
  close?: string
}

export const SmppPassword = ({ of: { system_id, password }, ...rest }: SmppPasswordProps) => (
  <Secrets
    title="SMPP login"
    secrets={[
      ['system_id', system_id],
      ['password', password],
    ]}
    {...rest}
  >
    <p>
      The operator sets the port (<code>HELIOGRAM_SMPP_SERVER_PORT</code>).{' '}
      <a href="/docs/api/smpp-clients" target="_blank" rel="noreferrer">
        How to connect over SMPP
      </a>
    </p>
  </Secrets>
)
