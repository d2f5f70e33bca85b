import { useCall } from '../../../api.ts'
import { FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { Button, LinkButton } from '../../../kit/button.tsx'

const newButton = (
  <LinkButton to="/templates/new" does="createTemplate" kind="primary" isNew>
    New template
  </LinkButton>
)

const names = ['name', 'language'] as const

export function TemplatesScreen() {
  const { filters, clear, isNarrowed, field } = useFilters(names)
  const templates = useCall('listTemplates', { query: filters })
  return (
    <Page title="Templates" lead="Reusable messages with fields, in one or more languages." actions={newButton}>
      <div className="filters" role="search" aria-label="Filters of templates">
        <FilterText label="Name" {...field('name')} />
        <FilterText label="Language" {...field('language')} />
        {isNarrowed && (
          <Button kind="quiet" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
      <Loaded call={templates}>
        {(page) => (
          <>
            <Table
              label="Templates"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/templates/${id}`}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                {
                  title: 'Languages',
                  cell: ({ language, languages }) => [language, ...Object.keys(languages)].join(', '),
                },
                { title: 'Text', isWide: true, cell: ({ body }) => body },
                {
                  title: 'Fields',
                  cell: ({ variables }) => (variables.length > 0 ? variables.map(({ name }) => name).join(', ') : '–'),
                },
                { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
              ]}
              empty={
                isNarrowed ? (
                  <Empty title="No matching templates" action={<Button onClick={clear}>Clear filters</Button>}>
                    Change or clear the filters to see other templates.
                  </Empty>
                ) : (
                  <Empty title="No templates yet" action={newButton}>
                    Write a message once and use it in messages and broadcasts. Each recipient gets it in their
                    language.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
