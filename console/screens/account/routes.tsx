import type { Screens } from '../../screens.ts'
import '../../style/account.css'
import { AccountScreen } from './accounts/account.tsx'
import { AccountsScreen } from './accounts/accounts.tsx'
import { NewAccountScreen } from './accounts/new.tsx'
import { AuditScreen } from './audit/audit.tsx'
import { MeScreen } from './me/me.tsx'
import { PeopleScreen } from './people/people.tsx'
import { PersonScreen } from './people/person.tsx'
import { SettingsScreen } from './settings/settings.tsx'
import { UsageScreen } from './usage/usage.tsx'

export const screens: Screens = [
  ['/usage', UsageScreen],
  ['/people', PeopleScreen],
  ['/people/:id', PersonScreen],
  ['/me', MeScreen],
  ['/audit', AuditScreen],
  ['/settings', SettingsScreen],
  ['/accounts', AccountsScreen],
  ['/accounts/new', NewAccountScreen],
  ['/accounts/:id', AccountScreen],
]
