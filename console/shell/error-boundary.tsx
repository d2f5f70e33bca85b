/** Replaces a screen that has thrown; otherwise the whole page would be empty. */
import { Component, type ReactNode } from 'react'
import { queries } from '../api.ts'
import { Button } from '../kit/button.tsx'
import { Outdated } from '../kit/outdated.ts'
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
    if (error instanceof Outdated)
      return (
        <Page title="Heliogram was updated" lead="Reload the page to continue with the new version.">
          <Button kind="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        </Page>
      )
    return (
      <Page title="This page failed to load" lead="This is a fault of the console. Nothing was sent or lost.">
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
