import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { queries } from './api.ts'
import { App } from './app.tsx'
import { ErrorBoundary } from './shell/error-boundary.tsx'
import './style/console.css'

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Router base="/console">
          <CSPProvider disableStyleElements>
            <ErrorBoundary>
              <App />
            </ErrorBoundary>
          </CSPProvider>
        </Router>
      </QueryClientProvider>
    </StrictMode>,
  )
