import type { Carrier, LinkSettings } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Empty, Loaded } from '../../../kit/page.tsx'
import { Badge, formatNumber } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { LinkForm } from './link-form.tsx'

export function LinksPart({ carrier }: { carrier: Carrier }) {
  const links = useCall('listLinks', { path: { id: carrier.id } })
  const [open, setOpen] = useState<LinkSettings | 'new' | null>(null)
  return (
    <>
      <div className="section-head">
        <p className="lead">
          A link is one connection to the carrier. Add another for a second address or login, with its own pace and
          settings.
        </p>
        <Button does="createLink" data-key="n" onClick={() => setOpen('new')}>
          Add a link
        </Button>
      </div>
      <Loaded call={links}>
        {({ data }) => (
          <Table
            label="Links and their settings"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Link', cell: ({ id }) => <code>{id}</code> },
              {
                title: 'State',
                cell: ({ id, enabled }) => (
                  <Badge
                    status={enabled ? (carrier.links.find((link) => link.id === id)?.state ?? 'enabled') : 'disabled'}
                  />
                ),
              },
              {
                title: 'Pace',
                isNumber: true,
                cell: ({ pace }) =>
                  pace === null ? `${formatNumber(carrier.pace)}/s (carrier)` : `${formatNumber(pace)}/s`,
              },
              { title: 'Own settings', cell: ({ settings, has_password }) => tellOwn(settings, has_password) },
              {
                title: '',
                cell: (link) => (
                  <span className="row-buttons">
                    <Button does="updateLink" onClick={() => setOpen(link)}>
                      Edit
                    </Button>
                    {link.id !== data[0]?.id && <DeleteLink id={link.id} />}
                  </span>
                ),
              },
            ]}
            empty={<Empty title="No links" />}
          />
        )}
      </Loaded>
      {open && (
        <Dialog title={open === 'new' ? 'Add a link' : 'Edit link'} onClose={() => setOpen(null)}>
          <LinkForm carrier={carrier} link={open === 'new' ? null : open} onDone={() => setOpen(null)} />
        </Dialog>
      )}
    </>
  )
}

function tellOwn(settings: Record<string, unknown>, hasPassword: boolean): string {
  const names = [...Object.keys(settings), ...(hasPassword ? ['password'] : [])]
  return names.length === 0 ? 'None' : names.join(', ')
}

function DeleteLink({ id }: { id: string }) {
  const remove = useAction('deleteLink', 'Link deleted.')
  return (
    <ConfirmButton
      does="deleteLink"
      label="Delete"
      question={<p>The link finishes its messages and disconnects. New messages use the carrier’s other links.</p>}
      onConfirm={() => remove.run({ path: { id } })}
      isBusy={remove.isBusy}
      problem={remove.problem}
    />
  )
}
