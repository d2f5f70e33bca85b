/** Keywords and replies of an account or a campaign, own or inherited. */
import type { Keywords, Operations } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, SelectField, TextArea } from '../../../kit/form.tsx'

type Body = Operations['replaceKeywords']['body']

const lists = [
  ['stop_keywords', 'Opt-out keywords', 'STOP always works.'],
  ['start_keywords', 'Opt-in keywords', ''],
  ['help_keywords', 'Help keywords', ''],
] as const
type List = (typeof lists)[number][0]

const answers = [
  ['stop', 'Reply to an opt-out'],
  ['start', 'Reply to an opt-in'],
  ['help', 'Reply to a help request'],
] as const
type Answered = (typeof answers)[number][0]

/** Undefined if inherited. */
type Own<Name extends string> = Partial<Record<Name, string>>

const suspicions = ['flag', 'ignore', 'opt_out'] as const

export function KeywordsForm({ keywords, query }: { keywords: Keywords; query: { campaign?: string } }) {
  const { own } = keywords
  const ownReplies = typeof own['replies'] === 'object' && own['replies'] !== null ? own['replies'] : {}
  const [words, setWords] = useState<Own<List>>(() => pick(lists, own, (name) => keywords[name].join('\n')))
  const [replies, setReplies] = useState<Own<Answered>>(() =>
    pick(answers, ownReplies, (name) => keywords.replies[name] ?? ''),
  )
  const [suspicion, setSuspicion] = useState('on_suspicion' in own ? keywords.on_suspicion : '')
  const save = useAction('replaceKeywords', 'Keywords saved.')
  const onSuspicion = suspicions.find((one) => one === suspicion)
  const inherited = keywords.campaign === null ? 'Default.' : 'Inherited from the account.'
  // An own text hides the inherited one until it is removed.
  const tellInherited = (isHidden: boolean) => (isHidden ? `${inherited} Shown after you save.` : inherited)
  const submit = () =>
    save.run({
      query,
      body: {
        ...listsOf(words),
        ...(Object.keys(replies).length > 0 && { replies: repliesOf(replies) }),
        ...(onSuspicion && { on_suspicion: onSuspicion }),
      },
    })
  return (
    <Form does="replaceKeywords" onSubmit={submit} problem={save.problem}>
      {lists.map(([name, label, hint]) => (
        <div key={name} className="card form">
          <TextArea
            label={label}
            name={name}
            value={words[name] ?? (name in own ? '' : keywords[name].join('\n'))}
            readOnly={words[name] === undefined}
            onChange={(text) => setWords({ ...words, [name]: text })}
            hint={
              words[name] === undefined
                ? tellInherited(name in own)
                : `One per line. A reply counts only if it is exactly the keyword. ${hint}`
            }
          />
          <CheckField
            label="Custom list"
            name={`${name}/own`}
            value={words[name] !== undefined}
            onChange={(isOwn) => setWords(isOwn ? { ...words, [name]: keywords[name].join('\n') } : omit(words, name))}
          />
        </div>
      ))}
      {answers.map(([name, label]) => (
        <div key={name} className="card form">
          <TextArea
            label={label}
            name={`replies/${name}`}
            rows={2}
            value={replies[name] ?? (name in ownReplies ? '' : (keywords.replies[name] ?? ''))}
            readOnly={replies[name] === undefined}
            onChange={(text) => setReplies({ ...replies, [name]: text })}
            hint={
              replies[name] === undefined
                ? tellInherited(name in ownReplies)
                : '{{account_name}} becomes the name of your account. Leave empty to send no reply.'
            }
          />
          <CheckField
            label="Custom reply"
            name={`replies/${name}/own`}
            value={replies[name] !== undefined}
            onChange={(isOwn) =>
              setReplies(isOwn ? { ...replies, [name]: keywords.replies[name] ?? '' } : omit(replies, name))
            }
          />
        </div>
      ))}
      <SelectField
        label="Replies that may mean STOP"
        name="on_suspicion"
        value={suspicion}
        onChange={setSuspicion}
        options={[
          ['', `${inherited.slice(0, -1)}${suspicion === '' ? `: ${keywords.on_suspicion.replaceAll('_', ' ')}` : ''}`],
          ['flag', 'Flag for review'],
          ['ignore', 'Ignore'],
          ['opt_out', 'Opt out at once'],
        ]}
        hint="For example “no more texts”."
      />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={save.isBusy}>
          Save keywords
        </Button>
      </Buttons>
    </Form>
  )
}

function pick<Name extends string>(
  all: readonly (readonly [Name, ...string[]])[],
  own: object,
  textOf: (name: Name) => string,
): Own<Name> {
  const texts: Own<Name> = {}
  for (const [name] of all) if (name in own) texts[name] = textOf(name)
  return texts
}

function omit<Name extends string>(texts: Own<Name>, name: Name): Own<Name> {
  const rest = { ...texts }
  delete rest[name]
  return rest
}

function listsOf(words: Own<List>): Pick<Body, List> {
  const body: Pick<Body, List> = {}
  for (const [name] of lists) {
    const text = words[name]
    if (text !== undefined) body[name] = text.split('\n').flatMap((word) => word.trim() || [])
  }
  return body
}

function repliesOf(replies: Own<Answered>): NonNullable<Body['replies']> {
  const body: NonNullable<Body['replies']> = {}
  for (const [name] of answers) {
    const text = replies[name]
    if (text !== undefined) body[name] = text.trim() === '' ? null : text
  }
  return body
}
