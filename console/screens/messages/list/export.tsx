import { download } from '../../../api.ts'
import { Allowed } from '../../../kit/may.tsx'
import { Menu, MenuItem } from '../../../kit/menu.tsx'
import { toast } from '../../../kit/toast.tsx'
import type { MessageQuery } from './query.ts'

const today = (): string => new Date().toISOString().slice(0, 10)

/** Of all messages that the filters find. Loaded after the rows. */
function ExportMenu({ query }: { query: MessageQuery }) {
  const save = (format: 'csv' | 'ndjson') =>
    void download('exportMessages', { query: { ...query, format } }, `messages-${today()}.${format}`).catch(
      (error: unknown) => toast(`The export failed. ${error instanceof Error ? error.message : ''}`, { isError: true }),
    )
  return (
    <Allowed to="exportMessages">
      <Menu label="Export" kind="plain">
        <MenuItem onClick={() => save('csv')}>CSV</MenuItem>
        <MenuItem onClick={() => save('ndjson')}>NDJSON</MenuItem>
      </Menu>
    </Allowed>
  )
}

export default ExportMenu
