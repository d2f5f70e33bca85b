const steps = ['Upload', 'Match and check', 'Import'] as const

/** `at`: the current step, from 0. */
export const Steps = ({ at }: { at: number }) => (
  <ol className="wizard" aria-label="Steps of the import">
    {steps.map((title, n) => (
      <li key={title} className={n < at ? 'done' : undefined} aria-current={n === at ? 'step' : undefined}>
        {title}
      </li>
    ))}
  </ol>
)
