import { download } from '../../../api.ts'
import { DownloadButton } from '../../../kit/task.tsx'
import type { MessageQuery } from './query.ts'

const today = (): string => new Date().toISOString().slice(0, 10)

export function ExportButtons({ query }: { query: MessageQuery }) {
  const save = (format: 'csv' | 'ndjson') =>
    download('exportMessages', { query: { ...query, format } }, `messages-${today()}.${format}`)
  return (
    <>
      <DownloadButton does="exportMessages" label="Export CSV" onDownload={() => save('csv')} />
      <DownloadButton does="exportMessages" label="Export NDJSON" onDownload={() => save('ndjson')} />
    </>
  )
}
