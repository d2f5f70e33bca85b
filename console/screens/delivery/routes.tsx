import type { Screens } from '../../screens.ts'
import '../../style/delivery.css'
import { CarrierScreen } from './carriers/carrier.tsx'
import { CarriersScreen } from './carriers/list.tsx'
import { NewCarrierScreen } from './carriers/new.tsx'
import { GuardsScreen } from './guards/list.tsx'
import { NewRouteScreen, RouteScreen } from './routing/edit.tsx'
import { RoutesScreen } from './routing/list.tsx'
import { RouteTestScreen } from './routing/test.tsx'
import { NewSenderScreen, SenderScreen } from './senders/edit.tsx'
import { SendersScreen } from './senders/list.tsx'
import { NewPoolScreen, PoolScreen, PoolsScreen } from './senders/pools.tsx'

export const screens: Screens = [
  ['/carriers', CarriersScreen],
  ['/carriers/new', NewCarrierScreen],
  ['/carriers/:id/:part?', CarrierScreen],
  ['/routes', RoutesScreen],
  ['/routes/new', NewRouteScreen],
  ['/routes/test', RouteTestScreen],
  ['/routes/:id', RouteScreen],
  ['/senders', SendersScreen],
  ['/senders/new', NewSenderScreen],
  ['/senders/pools', PoolsScreen],
  ['/senders/pools/new', NewPoolScreen],
  ['/senders/pools/:id', PoolScreen],
  ['/senders/:id', SenderScreen],
  ['/guards', GuardsScreen],
]
