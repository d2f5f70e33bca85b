/** Forms: labelled fields, each with its faults from the API. */
import { HeliogramError, type OperationName } from '@heliogram/sdk'
import {
  createContext,
  use,
  useEffect,
  useId,
  useRef,
  useState,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
} from 'react'
import { Combobox, longList, type Options } from './combobox.tsx'
import { useMay } from './may.tsx'
import { nameOf, Problem } from './problem.tsx'

/** The form's context for fields: faults by field, the names of fields, and whether it is read-only. */
interface Around {
  isRead?: boolean
  isChanged?: boolean
  faults: ReadonlyMap<string, string>
  names: Set<string>
}

const Surroundings = createContext<Around>({ faults: new Map(), names: new Set() })

/** Faults that people meet most, as a sentence of their own. */
function tellFault(name: string, detail: string): string {
  if (detail.startsWith('is too common')) return 'This password is too common. Choose another.'
  if (!detail.endsWith('; it has 0')) return detail
  return name === 'message' || name === 'name' ? `Enter a ${name}.` : 'This field is required.'
}

function faultsOf(problem: Error | null): Map<string, string> {
  const faults = new Map<string, string>()
  if (!(problem instanceof HeliogramError)) return faults
  for (const { pointer, detail, suggestion } of problem.errors) {
    const name = nameOf(pointer)
    faults.set(name, [faults.get(name), tellFault(name, detail), suggestion].filter(Boolean).join(' '))
  }
  return faults
}

/** Whether a fault is of the field, or of something in it. */
const isOf = (name: string, fault: string): boolean => fault === name || fault.startsWith(`${name}/`)

/** The fault of a field, or of something in it (`countries` includes `countries/0`); tells the form that it is shown. */
export function useFault(name: string): string | undefined {
  const { faults, names } = use(Surroundings)
  useEffect(() => {
    names.add(name)
    return () => void names.delete(name)
  }, [name, names])
  const inside = [...faults].filter(([inner]) => inner !== name && isOf(name, inner)).map(([, fault]) => fault)
  return faults.get(name) ?? ([...new Set(inside)].join(' ') || undefined)
}

interface FormProps {
  /** Without permission to call this the form is read-only. */
  does?: OperationName
  onSubmit: () => unknown
  /** It stays open after it is saved, and so says whether it has unsaved changes. */
  isKept?: boolean
  /** Why the last try failed: faults of fields are shown beside them, others above the buttons. */
  problem?: Error | null
  children: ReactNode
}

export function Form({ does, onSubmit, isKept = false, problem = null, children }: FormProps) {
  const [isChanged, setChanged] = useState(false)
  const may = useMay(does)
  const [names] = useState(() => new Set<string>())
  const form = useRef<HTMLFormElement>(null)
  const [corrected, setCorrected] = useState<{ of: Error | null; names: string[] }>({ of: null, names: [] })
  const mended = corrected.of === problem ? corrected.names : []
  const faults = [...faultsOf(problem)].filter(([fault]) => !mended.some((name) => isOf(name, fault)))
  const change = (event: FormEvent) => {
    // A change in a dialog, which is inside the form for React only.
    if (!form.current?.contains(event.target as Node)) return
    if (isKept) setChanged(true)
    const { name } = event.target as HTMLInputElement
    if (problem && name) setCorrected({ of: problem, names: [...mended, name] })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // A form in a dialog may be inside another one for React.
    event.stopPropagation()
    void Promise.resolve(onSubmit()).then((done) => done !== undefined && setChanged(false))
  }
  // Focuses the first field with a fault, after unfolding.
  useEffect(() => {
    if (problem === null) return
    for (const fault of form.current?.querySelectorAll('.fault') ?? [])
      fault.closest('details')?.setAttribute('open', '')
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problem])
  return (
    <form className="form" ref={form} onSubmit={submit} onChange={change} noValidate>
      <Surroundings value={{ faults: new Map(faults), names, isRead: !may, isChanged }}>
        {may ? (
          children
        ) : (
          <fieldset className="form read" disabled>
            {children}
          </fieldset>
        )}
      </Surroundings>
      {problem && !(mended.length > 0 && faults.length === 0) && <Problem of={problem} shownElsewhere={names} />}
    </form>
  )
}

/** The buttons of a form, or a note that it is read-only. */
export function Buttons({ children }: { children: ReactNode }) {
  const { isRead, isChanged } = use(Surroundings)
  if (isRead) return <p className="hint">Your role can view this, but not change it.</p>
  return (
    <div className="buttons">
      {children}
      {isChanged && <span className="unsaved">Unsaved changes</span>}
    </div>
  )
}

interface FieldProps {
  label: string
  /** The API field; its faults are shown here. */
  name: string
  hint?: ReactNode
}

interface FrameProps extends FieldProps {
  /** Found by the browser, before the API is asked. */
  own?: string | undefined
  children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => ReactNode
}

function Frame({ label, name, hint, own, children }: FrameProps) {
  const id = useId()
  const told = useFault(name)
  const fault = own ?? told
  const isDescribed = fault !== undefined || hint !== undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': isDescribed ? `${id}-about` : undefined,
        'aria-invalid': fault !== undefined,
      })}
      {isDescribed && (
        <p id={`${id}-about`} className={fault === undefined ? 'hint' : 'fault'}>
          {fault ?? hint}
        </p>
      )}
    </div>
  )
}

type Of<Attributes> = FieldProps &
  Omit<Attributes, 'name' | 'onChange' | 'value'> & { value: string; onChange: (value: string) => void }

/** What is wrong with a typed value by its type; empty fields are left to the API. */
const faultOf = ({ validity, type }: HTMLInputElement): string | undefined => {
  if (validity.typeMismatch)
    return type === 'email'
      ? 'Enter a full e-mail address, such as name@example.com.'
      : 'Enter a full URL, such as https://example.com/.'
  return validity.badInput ? 'This is not complete.' : undefined
}

export function TextField({ label, name, hint, onChange, ...rest }: Of<InputHTMLAttributes<HTMLInputElement>>) {
  const [own, setOwn] = useState<string>()
  return (
    <Frame label={label} name={name} hint={hint} own={own}>
      {(ids) => (
        <input
          type="text"
          autoComplete="off"
          {...rest}
          {...ids}
          name={name}
          onBlur={(e) => setOwn(faultOf(e.target))}
          onChange={(e) => {
            setOwn(undefined)
            onChange(e.target.value)
          }}
        />
      )}
    </Frame>
  )
}

/** `behind`: the same text with marks, drawn behind it; it sets the height. */
export function TextArea({
  label,
  name,
  hint,
  onChange,
  behind,
  ...rest
}: Of<TextareaHTMLAttributes<HTMLTextAreaElement>> & { behind?: ReactNode }) {
  return (
    <Frame label={label} name={name} hint={hint}>
      {(ids) => {
        const area = (
          <textarea rows={4} dir="auto" {...rest} {...ids} name={name} onChange={(e) => onChange(e.target.value)} />
        )
        return behind === undefined ? (
          area
        ) : (
          <div className="layers">
            <div className="behind" dir="auto" aria-hidden="true">
              {behind}
            </div>
            {area}
          </div>
        )
      }}
    </Frame>
  )
}

/** `options`: values with labels. */
export function SelectField({
  label,
  name,
  hint,
  options,
  onChange,
  value,
  disabled,
}: FieldProps & { value: string; onChange: (value: string) => void; options: Options; disabled?: boolean }) {
  return (
    <Frame label={label} name={name} hint={hint}>
      {(ids) =>
        options.length > longList ? (
          <Combobox {...ids} value={value} onChange={onChange} options={options} disabled={disabled} />
        ) : (
          <select {...ids} name={name} value={value} disabled={disabled} onChange={(e) => onChange(e.target.value)}>
            {options.map(([option, text]) => (
              <option key={option} value={option}>
                {text}
              </option>
            ))}
          </select>
        )
      }
    </Frame>
  )
}

export function CheckField({
  label,
  name,
  hint,
  value,
  onChange,
}: FieldProps & { value: boolean; onChange: (value: boolean) => void }) {
  const id = useId()
  const fault = useFault(name)
  const isDescribed = fault !== undefined || hint !== undefined
  return (
    <div className="field check">
      <input
        id={id}
        name={name}
        type="checkbox"
        aria-describedby={isDescribed ? `${id}-about` : undefined}
        aria-invalid={fault !== undefined}
        checked={value}
        onChange={(e) => onChange(e.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {isDescribed && (
        <p id={`${id}-about`} className={fault === undefined ? 'hint' : 'fault'}>
          {fault ?? hint}
        </p>
      )}
    </div>
  )
}
