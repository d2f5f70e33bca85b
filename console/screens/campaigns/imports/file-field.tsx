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
      <label htmlFor={id}>Contacts file</label>
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
        Choose a file or drop it here: CSV, Excel (.xlsx), NDJSON or JSON, also compressed with gzip. Up to 256 MB or
        1,000,000 rows.
      </p>
    </div>
  )
}
