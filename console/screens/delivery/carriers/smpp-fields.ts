import type { FieldGroup, FieldSpec } from './fields.ts'

export const onUnknown: FieldSpec = {
  name: 'on_unknown',
  label: 'When the carrier doesn’t answer',
  hint: 'Unless the message, campaign or account says otherwise. Sending again may deliver a message twice.',
  options: [
    ['hold', 'Hold the message'],
    ['resend', 'Send it again'],
  ],
  initial: 'hold',
}

const seconds = (name: string, label: string, initial: string, hint: string): FieldSpec => ({
  name,
  label: `${label}, seconds`,
  hint,
  kind: 'number',
  initial,
})

export const smppConnection: FieldGroup[] = [
  {
    title: null,
    fields: [
      { name: 'host', label: 'Host', hint: 'Host name or address of the SMSC.' },
      { name: 'port', label: 'Port', hint: 'Mostly 2775, or 3550 with TLS.', kind: 'number', initial: '2775' },
      { name: 'system_id', label: 'System ID', hint: 'Name to bind with, in ASCII.' },
    ],
  },
  {
    title: 'Sessions and bind',
    fields: [
      {
        name: 'bind',
        label: 'Bind as',
        hint: 'One session for both directions, or one for each.',
        options: [
          ['transceiver', 'Transceiver'],
          ['transmitter_receiver', 'Transmitter and receiver'],
        ],
        initial: 'transceiver',
      },
      { name: 'system_type', label: 'System type', hint: 'As given by the carrier; usually empty.' },
      {
        name: 'sessions',
        label: 'Sessions',
        hint: 'Binds at a time that the carrier allows, over all processes; two sockets each as transmitter and receiver.',
        kind: 'number',
        initial: '1',
      },
      {
        name: 'window',
        label: 'Window',
        hint: 'Maximum unanswered submits of a session.',
        kind: 'number',
        initial: '100',
      },
    ],
  },
  {
    title: 'TLS',
    fields: [
      { name: 'tls', label: 'TLS', hint: 'With verification of the certificate.', kind: 'check' },
      {
        name: 'tls_ca',
        label: 'Authority',
        hint: 'PEM of the certificate authority, if it is not a public one.',
        kind: 'long',
      },
    ],
  },
  {
    title: 'Times and unknown outcomes',
    fields: [
      seconds(
        'response_timeout_seconds',
        'Wait for an answer',
        '60',
        'After this time the outcome of a submit is unknown.',
      ),
      seconds('enquire_link_seconds', 'Heartbeat', '30', 'Idle time before an enquire_link.'),
      seconds(
        'enquire_timeout_seconds',
        'Wait for a heartbeat',
        '5',
        'The second in a row that is missed ends the session.',
      ),
      seconds(
        'bind_timeout_seconds',
        'Wait for the bind',
        '10',
        'From dialling until bound; then it is dialled again.',
      ),
      onUnknown,
    ],
  },
]

const tonAndNpi = (name: string, what: string, ton: string, npi: string): FieldSpec[] => [
  { name: `${name}_ton`, label: `TON of ${what}`, kind: 'number', initial: ton },
  { name: `${name}_npi`, label: `NPI of ${what}`, kind: 'number', initial: npi },
]

export const smppGroups: FieldGroup[] = [
  ...smppConnection,
  {
    title: 'Receipts',
    fields: [
      {
        name: 'message_id_form',
        label: 'Form of message ids',
        hint: 'How a receipt’s id becomes the submit response’s. The receipt check shows which one is right.',
        options: [
          ['raw', 'The same text in both'],
          ['hex', 'The same hexadecimal number'],
          ['dec', 'The same decimal number'],
          ['dec-to-hex', 'Hexadecimal answers, decimal receipts'],
          ['hex-to-dec', 'Decimal answers, hexadecimal receipts'],
        ],
        initial: 'raw',
      },
      {
        name: 'one_receipt',
        label: 'One receipt for all parts',
        hint: 'The carrier sends one receipt for a long message, whichever part it names. The receipt check shows if it does.',
        kind: 'check',
      },
      {
        name: 'user_message_reference',
        label: 'Submits carry a reference',
        hint: 'Where the carrier echoes it, the receipt of a submit that was never answered finds its message.',
        kind: 'check',
      },
      {
        name: 'validity',
        label: 'Expiry',
        hint: 'Whether submits contain their validity.',
        options: [
          ['absolute', 'Submits carry it'],
          ['none', 'Left out'],
        ],
        initial: 'absolute',
      },
    ],
  },
  {
    title: 'Alphabets and long texts',
    fields: [
      {
        name: 'default_alphabet',
        label: 'Default alphabet',
        hint: 'The meaning of data_coding 0, used for our texts; characters it lacks are sent in UCS-2.',
        options: [
          ['gsm7', 'GSM-7, one septet an octet'],
          ['gsm7-packed', 'GSM-7, packed'],
          ['latin1', 'Latin-1'],
          ['ascii', 'ASCII'],
        ],
        initial: 'gsm7',
      },
      {
        name: 'concatenation',
        label: 'Long texts',
        hint: 'How to split long texts.',
        options: [
          ['udh8', 'Header with a reference of 8 bits'],
          ['udh16', 'Header with a reference of 16 bits'],
          ['sar', 'SAR TLVs'],
          ['payload', 'One submit with message_payload'],
        ],
        initial: 'udh8',
      },
      {
        name: 'data_codings_out',
        label: 'data_coding of submits',
        hint: 'By alphabet, where it is another than 0, or 8 for ucs2. For example {"latin1": 3}.',
        kind: 'json',
        initial: '{}',
      },
      {
        name: 'data_codings_in',
        label: 'data_coding of deliveries',
        hint: 'How they are read, where the carrier does not mean what SMPP’s table says. For example {"240": "latin1"}.',
        kind: 'json',
        initial: '{}',
      },
    ],
  },
  {
    title: 'Numbers',
    fields: [
      {
        name: 'country',
        label: 'Country',
        hint: 'ISO 3166-1 code of the country whose national numbers the carrier delivers; empty: none.',
      },
      ...tonAndNpi('long_code', 'numbers as sender', '1', '1'),
      ...tonAndNpi('short_code', 'short codes as sender', '0', '0'),
      ...tonAndNpi('alphanumeric', 'names as sender', '5', '0'),
      ...tonAndNpi('recipient', 'recipients', '1', '1'),
    ],
  },
]
