/** The choice of a table's columns. Loaded with the first table that has one. */
import { Menu, MenuCheck } from './menu.tsx'

export interface TableColumnsProps {
  columns: readonly (readonly [title: string, isShown: boolean])[]
  onChange: (title: string, isShown: boolean) => void
}

const TableColumns = ({ columns, onChange }: TableColumnsProps) => (
  <Menu label="Columns" icon="⋯" className="table-columns">
    {columns.map(([title, isShown]) => (
      <MenuCheck key={title} isOn={isShown} onChange={(isOn) => onChange(title, isOn)}>
        {title}
      </MenuCheck>
    ))}
  </Menu>
)

export default TableColumns
