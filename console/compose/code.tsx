/** The call that a form makes, as programs make it. */
import '../style/compose.css'
import { Tabs } from '@base-ui/react/tabs'
import { CopyButton } from '../kit/show.tsx'
import { curlOf, nodeOf, pythonOf, type Call } from './snippets.ts'

const languages = [
  ['curl', curlOf],
  ['Node.js', nodeOf],
  ['Python', pythonOf],
] as const

export const SameAsCode = ({ call }: { call: Call }) => (
  <Tabs.Root defaultValue="curl" className="code-tabs">
    <Tabs.List aria-label="Language" className="tabs">
      {languages.map(([name]) => (
        <Tabs.Tab key={name} value={name}>
          {name}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {languages.map(([name, write]) => (
      <Tabs.Panel key={name} value={name} className="json" tabIndex={-1}>
        <CopyButton text={write(call)} about={`the call in ${name}`} />
        <pre aria-label={`The call in ${name}`} tabIndex={0}>
          {write(call)}
        </pre>
      </Tabs.Panel>
    ))}
  </Tabs.Root>
)
