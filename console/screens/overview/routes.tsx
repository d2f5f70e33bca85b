import '../../style/home.css'
import type { Screens } from '../../screens.ts'
import { OverviewScreen } from './overview.tsx'

export const screens: Screens = [['/', OverviewScreen]]
