import type { OperationRequest, Route } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, TextField } from '../../../kit/form.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Badge } from '../../../kit/show.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { numberFrom } from '../../../kit/typed.ts'
import { ChainFields, readFailover, readShares, sharesOf, type Share } from './chain-fields.tsx'
import { DeleteRoute } from './list.tsx'
import { matchDraftOf, MatchFields, readMatch } from './match-fields.tsx'

type NewRoute = OperationRequest<'createRoute'>['body']

const back = { to: '/routes', title: 'Routes' }

export function NewRouteScreen() {
  const [, go] = useLocation()
  const create = useAction('createRoute', 'The route was added; it counts from now on.')
  return (
    <Page title="Add a route" back={back}>
      <RouteForm
        route={null}
        problem={create.problem}
        isBusy={create.isBusy}
        onSubmit={async (body) => {
          if (await create.run({ body })) go('/routes')
        }}
      />
    </Page>
  )
}

export function RouteScreen() {
  const { id } = useParams<{ id: string }>()
  const [, go] = useLocation()
  const route = useCall('getRoute', { path: { id } })
  const update = useAction('updateRoute', 'The route was changed; it counts from now on.')
  const name = route.data?.name
  return (
    <Page
      title={route.data ? `${route.data.position}. ${name ?? 'Route without a name'}` : 'Route'}
      back={back}
      actions={<DeleteRoute id={id} onDone={() => go('/routes')} />}
    >
      <Loaded call={route}>
        {(one) =>
          one.id === id ? (
            <>
              {one.warnings.map(({ code, detail, route: other }) => (
                <p key={`${code} ${other}`} className="notice">
                  <Badge status={code} tone="warning" /> {detail}
                </p>
              ))}
              <RouteForm
                key={one.id}
                route={one}
                problem={update.problem}
                isBusy={update.isBusy}
                onSubmit={async (body) => {
                  if (await update.run({ path: { id }, body })) go('/routes')
                }}
              />
            </>
          ) : null
        }
      </Loaded>
    </Page>
  )
}

interface FormProps {
  route: Route | null
  problem: Error | null
  isBusy: boolean
  onSubmit: (body: NewRoute) => Promise<void>
}

function RouteForm({ route, problem, isBusy, onSubmit }: FormProps) {
  const [name, setName] = useState(route?.name ?? '')
  const [position, setPosition] = useState(route ? String(route.position) : '')
  const [isEnabled, setEnabled] = useState(route?.enabled ?? true)
  const [match, setMatch] = useState(() => matchDraftOf(route?.match ?? {}))
  const [shares, setShares] = useState<readonly Share[]>(() => sharesOf(route?.carriers ?? [{ carrier: '' }]))
  const [failover, setFailover] = useState<readonly Share[]>(() => sharesOf(route?.failover ?? []))
  const [amount, setAmount] = useState(route?.max_cost?.amount ?? '')
  const [currency, setCurrency] = useState(route?.max_cost?.currency ?? '')
  const submit = () =>
    onSubmit({
      name: name === '' ? null : name,
      match: readMatch(match),
      carriers: readShares(shares),
      failover: readFailover(failover),
      max_cost: amount === '' && currency === '' ? null : { amount, currency },
      enabled: isEnabled,
      ...(position !== '' && { position: numberFrom(position) }),
    })
  return (
    <div className="narrow">
      <Form does={route ? 'updateRoute' : 'createRoute'} onSubmit={submit} problem={problem}>
        <div className="fields">
          <TextField label="Name" name="name" hint="Your name for it." value={name} onChange={setName} />
          <TextField
            label="Position"
            name="position"
            hint="Place among the routes; empty: the last."
            inputMode="numeric"
            value={position}
            onChange={setPosition}
          />
        </div>
        <MatchFields draft={match} set={(field, value) => setMatch((now) => ({ ...now, [field]: value }))} />
        <ChainFields
          title="Carriers"
          hint="They share the messages by weight; 0: only when others refuse. Without any, what the route matches is refused."
          part="carriers"
          hasWeight
          shares={shares}
          set={setShares}
        />
        <ChainFields
          title="Failover"
          hint="Tried in this order after all of the carriers above have refused."
          part="failover"
          shares={failover}
          set={setFailover}
        />
        <Fold title="Limit of cost">
          <div className="fields">
            <TextField
              label="A message may cost"
              name="max_cost/amount"
              hint="Carriers at which its segments would cost more are passed over."
              inputMode="decimal"
              value={amount}
              onChange={setAmount}
            />
            <TextField
              label="Currency"
              name="max_cost/currency"
              hint="ISO 4217, such as USD."
              value={currency}
              onChange={setCurrency}
            />
          </div>
        </Fold>
        <CheckField label="Enabled" name="enabled" value={isEnabled} onChange={setEnabled} />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {route ? 'Save the route' : 'Add the route'}
          </Button>
          <LinkButton to="/routes">Cancel</LinkButton>
        </Buttons>
      </Form>
    </div>
  )
}
