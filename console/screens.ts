import type { ComponentType } from 'react'

/** Addresses below `/console` in wouter's form (`/messages/:id`); the first match counts. */
export type Screens = readonly (readonly [address: string, screen: ComponentType])[]
