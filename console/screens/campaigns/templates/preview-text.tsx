import type { Operations } from '@heliogram/sdk'
import { Facts, formatNumber } from '../../../kit/show.tsx'

export function PreviewText({ of }: { of: Operations['previewTemplate']['answer'] }) {
  return (
    <section className="section" aria-label="Preview">
      <p className="sample">{of.message}</p>
      <Facts
        facts={[
          ['Segments', `${of.segments}, ${of.encoding}`],
          ['Characters', formatNumber(of.characters)],
          ['Opted out', of.opted_out ? 'Yes. This number gets no messages.' : null],
        ]}
      />
      {of.warnings.map(({ code, detail }) => (
        <p key={code} className="notice">
          {detail}
        </p>
      ))}
    </section>
  )
}
