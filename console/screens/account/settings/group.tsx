import type { Operations } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'

export type Settings = Operations['getSettings']['answer']
export type SettingsChange = Operations['updateSettings']['body']

interface GroupProps {
  title: string
  lead?: ReactNode
  body: () => SettingsChange
  children: ReactNode
}

export function Group({ title, lead, body, children }: GroupProps) {
  const { run, isBusy, problem } = useAction('updateSettings', `${title} saved`)
  return (
    <section className="card" aria-label={title} id={anchorOf(title)}>
      <h2>{title}</h2>
      {lead && <p className="hint">{lead}</p>}
      <Form does="updateSettings" isKept onSubmit={() => run({ body: body() })} problem={problem}>
        {children}
        <Buttons>
          <Button type="submit" isBusy={isBusy}>
            Save changes
          </Button>
        </Buttons>
      </Form>
    </section>
  )
}

/** The address of a group within the page. */
export const anchorOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-')

/** Null is empty. */
export const textOf = (value: number | string | null): string => (value === null ? '' : String(value))
