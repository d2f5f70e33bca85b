import { useId, useState, type DragEvent } from 'react'

interface FileFieldProps {
  file: File | undefined
  onFile: (file: File | undefined) => void
}

const sizeOf = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export function FileField({ file, onFile }: FileFieldProps) {
  const id = useId()
  const [isOver, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const dropped = event.dataTransfer.files[0]
    if (dropped) onFile(dropped)
  }
  return (
    <div
      className={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label htmlFor={id}>File of contacts</label>
      <input
        id={id}
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,.ndjson,.jsonl,.json,.gz"
        aria-describedby={`${id}-about`}
        onChange={(event) => onFile(event.target.files?.[0])}
      />
      {file && (
        <p>
          <strong>{file.name}</strong>, {sizeOf.format(file.size / 1024)} KiB
        </p>
      )}
      <p className="hint" id={`${id}-about`}>
        Choose it, or drop it here: CSV, a workbook (.xlsx), NDJSON or JSON, each also as gzip; up to 256 MiB or
        1,000,000 rows. Columns are found by their usual names; all others become attributes.
      </p>
    </div>
  )
}
