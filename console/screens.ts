/** What each room of screens brings. */
import type { ComponentType } from 'react'

/** Addresses below `/console`, as wouter reads them (`/messages/:id`), each with what it shows; the first that fits counts. */
export type Screens = readonly (readonly [address: string, screen: ComponentType])[]
