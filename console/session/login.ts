import { useSyncExternalStore } from 'react'
import { readLogin, watchLogin, type Login } from './session.ts'

export const useLogin = (): Login | null => useSyncExternalStore(watchLogin, readLogin)
