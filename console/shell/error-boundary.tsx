/** Replaces a screen that has thrown; otherwise the whole page would be empty. */
import { Component, type ReactNode } from 'react'
import { queries } from '../api.ts'
import { Button } from '../kit/button.tsx'
import { Page } from '../kit/page.tsx'
import { Problem } from '../kit/problem.tsx'

interface State {
  error: Error | null
}

/** Give it a `key` of what is shown: another key resets it. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null }

  readonly #tryAgain = (): void => {
    forgetAnswers()
    this.setState({ error: null })
  }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentWillUnmount(): void {
    if (this.state.error !== null) forgetAnswers()
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Page title="This screen has failed" lead="The fault is the console’s; nothing was sent or lost by it.">
        <Problem of={error} />
        <div className="buttons">
          <Button kind="primary" onClick={this.#tryAgain}>
            Try again
          </Button>
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </div>
      </Page>
    )
  }
}

/** A cached response may be the cause of the error. */
const forgetAnswers = (): void => queries.removeQueries({ type: 'inactive' })
