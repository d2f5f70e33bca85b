/** Number, kind and account are fixed after creation. */
import type { Sender } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { numberOrNone } from '../../../kit/typed.ts'
import { kindNamed, kindNames } from './kinds.ts'

type Capability = Sender['capabilities'][number]

const capabilityHints: readonly (readonly [Capability, string, string])[] = [
  ['sms', 'Send messages', 'Messages can be sent from this sender.'],
  ['replies', 'Receive replies', 'People can reply to this sender.'],
  ['international', 'Send abroad', 'Short codes and toll-free numbers otherwise reach only their own country.'],
]

interface Common {
  carrier: string
  country: string
  pace: string
  isDefault: boolean
  capabilities: readonly Capability[] | null
}

export function NewSender() {
  const [, go] = useLocation()
  const create = useAction('createSender', 'Sender added.')
  const accounts = useCall('listAccounts', { query: { limit: 100 } }, { isSide: true })
  const [number, setNumber] = useState('')
  const [kind, setKind] = useState('')
  const [account, setAccount] = useState('')
  const [common, setCommon] = useState<Common>({
    carrier: '',
    country: '',
    pace: '',
    isDefault: false,
    capabilities: null,
  })
  const submit = async () => {
    const { carrier, country, pace, isDefault, capabilities } = common
    const known = kindNamed(kind)
    const done = await create.run({
      body: {
        number,
        carrier,
        default: isDefault,
        pace: numberOrNone(pace),
        ...(known && { kind: known }),
        ...(country !== '' && { country: country.toUpperCase() }),
        ...(account !== '' && { account }),
        ...(capabilities !== null && { capabilities }),
      },
    })
    if (done) go('/senders')
  }
  return (
    <div className="narrow">
      <Form does="createSender" onSubmit={submit} problem={create.problem}>
        <TextField
          label="Number or name"
          name="number"
          hint="A number with its country code, a short code of 3 to 8 digits, or up to 11 characters with a letter."
          value={number}
          onChange={setNumber}
          autoFocus
        />
        <div className="fields">
          <SelectField
            label="Account"
            name="account"
            value={account}
            onChange={setAccount}
            options={[['', 'Your account'], ...(accounts.data?.data.map(({ id, name }) => [id, name] as const) ?? [])]}
          />
          <SelectField
            label="Kind"
            name="kind"
            value={kind}
            onChange={setKind}
            options={[['', 'Detect automatically'], ...Object.entries(kindNames)]}
          />
        </div>
        <CommonFields
          value={common}
          told={/[a-z]/i.test(number) ? ['sms'] : ['sms', 'replies']}
          set={(next) => setCommon((now) => ({ ...now, ...next }))}
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={create.isBusy}>
            Add sender
          </Button>
          <LinkButton to="/senders">Cancel</LinkButton>
        </Buttons>
      </Form>
    </div>
  )
}

export function ChangeSender({ sender }: { sender: Sender }) {
  const update = useAction('updateSender', 'Sender saved.')
  const [common, setCommon] = useState<Common>({
    carrier: sender.carrier,
    country: sender.country ?? '',
    pace: sender.pace === null ? '' : String(sender.pace),
    isDefault: sender.default,
    capabilities: sender.capabilities,
  })
  const submit = () =>
    update.run({
      path: { id: sender.id },
      body: {
        ...(common.carrier !== sender.carrier && { carrier: common.carrier }),
        ...(common.country !== (sender.country ?? '') && { country: common.country.toUpperCase() || null }),
        ...(common.isDefault !== sender.default && { default: common.isDefault }),
        capabilities: common.capabilities ?? sender.capabilities,
        pace: numberOrNone(common.pace),
      },
    })
  return (
    <div className="narrow">
      <Form does="updateSender" onSubmit={submit} problem={update.problem}>
        <CommonFields
          value={common}
          told={sender.capabilities}
          set={(next) => setCommon((now) => ({ ...now, ...next }))}
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={update.isBusy}>
            Save sender
          </Button>
        </Buttons>
      </Form>
    </div>
  )
}

interface CommonProps {
  value: Common
  /** The API's capabilities for the number if none are chosen. */
  told: readonly Capability[]
  set: (next: Partial<Common>) => void
}

function CommonFields({ value, told, set }: CommonProps) {
  const carriers = useCall('listCarriers', {}, { isSide: true })
  const known = carriers.data?.data ?? []
  const capabilities = value.capabilities ?? told
  return (
    <>
      {carriers.error && <Problem of={carriers.error} />}
      <div className="fields">
        <SelectField
          label="Carrier"
          name="carrier"
          hint="The carrier that provides this sender."
          value={value.carrier}
          onChange={(carrier) => set({ carrier })}
          options={[
            ...(value.carrier === '' ? [['', 'Choose a carrier'] as const] : []),
            ...known.map(({ id, name }) => [id, name] as const),
            ...(value.carrier !== '' && !known.some(({ id }) => id === value.carrier)
              ? [[value.carrier, value.carrier] as const]
              : []),
          ]}
        />
        <TextField
          label="Country"
          name="country"
          hint="Two-letter code. Leave empty to detect it from a number."
          value={value.country}
          onChange={(country) => set({ country })}
        />
        <TextField
          label="Pace"
          name="pace"
          hint="Segments per second. Leave empty for the carrier’s pace."
          inputMode="decimal"
          value={value.pace}
          onChange={(pace) => set({ pace })}
        />
      </div>
      <fieldset className="group">
        <legend>Capabilities</legend>
        {capabilityHints.map(([capability, label, hint]) => (
          <CheckField
            key={capability}
            label={label}
            name="capabilities"
            hint={hint}
            value={capabilities.includes(capability)}
            onChange={(has) =>
              set({
                capabilities: has ? [...capabilities, capability] : capabilities.filter((one) => one !== capability),
              })
            }
          />
        ))}
      </fieldset>
      <CheckField
        label="Default"
        name="default"
        hint="Used when a message names no sender."
        value={value.isDefault}
        onChange={(isDefault) => set({ isDefault })}
      />
    </>
  )
}
