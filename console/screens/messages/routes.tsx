import '../../style/messages.css'
import type { Screens } from '../../screens.ts'
import { InboxScreen } from './conversations/inbox.tsx'
import { MessageListScreen } from './list/list.tsx'
import { MessageScreen } from './message/message.tsx'
import { NewMessageScreen } from './new/new.tsx'
import { KeywordsScreen } from './opt-outs/keywords.tsx'
import { OptOutListScreen } from './opt-outs/list.tsx'
import { OptOutScreen } from './opt-outs/opt-out.tsx'
import { SuspectedScreen } from './opt-outs/suspected.tsx'

export const screens: Screens = [
  ['/messages', MessageListScreen],
  ['/messages/new', NewMessageScreen],
  ['/messages/:id', MessageScreen],
  ['/conversations/:id?', InboxScreen],
  ['/opt-outs', OptOutListScreen],
  ['/opt-outs/suspected', SuspectedScreen],
  ['/opt-outs/keywords', KeywordsScreen],
  ['/opt-outs/:number', OptOutScreen],
]
