/** Filters of a list under a name, kept in this browser. */
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Buttons, Form, TextField } from './form.tsx'
import { toast } from './toast.tsx'
import { useKept } from './viewer.ts'

interface View {
  name: string
  search: string
}

/** Between the filters of a list: its saved views, and the button that saves what is shown. */
export function Views({ list }: { list: string }) {
  const [views, keep] = useKept<readonly View[]>(`views.${list}`, [])
  const [params, setParams] = useSearchParams()
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const now = searchOf(params)
  const current = views.find(({ search }) => search === now)
  const save = () => {
    keep([...views.filter((one) => one.name !== name.trim()), { name: name.trim(), search: now }])
    setOpen(false)
    setName('')
    return true
  }
  const remove = (view: View) => {
    keep(views.filter((one) => one !== view))
    toast(`View “${view.name}” deleted`, { action: { label: 'Undo', run: () => keep(views) } })
  }
  return (
    <>
      {views.map((view) => (
        <span key={view.name} className={view === current ? 'chip set' : 'chip view'}>
          <button type="button" className="chip-name" onClick={() => setParams(new URLSearchParams(view.search))}>
            {view.name}
          </button>
          {view === current && (
            <button type="button" className="chip-clear" onClick={() => remove(view)}>
              <span aria-hidden>✕</span>
              <span className="unseen">Delete view {view.name}</span>
            </button>
          )}
        </span>
      ))}
      {now !== '' && !current && (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          Save view
        </Button>
      )}
      {isOpen && (
        <Dialog title="Save view" onClose={() => setOpen(false)}>
          <Form onSubmit={() => name.trim() !== '' && save()}>
            <TextField
              label="Name"
              name="name"
              value={name}
              onChange={setName}
              hint="The filters of this list, for you in this browser."
              required
            />
            <Buttons>
              <Button kind="primary" type="submit" disabled={name.trim() === ''}>
                Save view
              </Button>
              <Button kind="quiet" onClick={() => setOpen(false)}>
                Cancel
              </Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** Without the page, which changes as the list grows. */
function searchOf(params: URLSearchParams): string {
  const kept = new URLSearchParams(params)
  kept.delete('cursor')
  kept.sort()
  return kept.toString()
}
