import { LinkButton } from './button.tsx'
import { Empty } from './page.tsx'

export const NoCarriers = () => (
  <Empty
    title="No carriers yet"
    action={
      <LinkButton to="/carriers/new" does="createCarrier">
        Add a carrier
      </LinkButton>
    }
  >
    A carrier takes messages to phones, over SMPP or HTTP.
  </Empty>
)
