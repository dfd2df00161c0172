/** The regions in which projects can be created: a map, and a table with the same. */
import { Card } from "../components/Card.tsx"
import { Empty } from "../components/Empty.tsx"
import { Table } from "../components/Table.tsx"
import { Tag } from "../components/Tag.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { hasPlace, type PlacedRegion, WorldMap } from "./WorldMap.tsx"

export interface RegionsPageProps {
  readonly frame: Frame
  readonly regions: ReadonlyArray<PlacedRegion>
}

const degrees = (value: number, positive: string, negative: string): string =>
  `${Math.abs(value).toFixed(1)}° ${value < 0 ? negative : positive}`

export const RegionsPage = ({ frame, regions }: RegionsPageProps) => (
  <Page
    title="Regions"
    frame={frame}
    section="regions"
    lead={
      <span>
        Storage and computes of a project are in one region, which is chosen at its creation and never changes.
      </span>
    }
  >
    {regions.some(hasPlace) ? (
      <Card id="map">
        <WorldMap regions={regions} />
      </Card>
    ) : null}
    <Card id="regions">
      <Table
        label="Active regions"
        empty={
          <Empty title="No region is active">
            <p>Ask the operator to add one.</p>
          </Empty>
        }
        columns={[{ head: "Name" }, { head: "ID" }, { head: "Location" }, { head: "Coordinates" }]}
        rows={regions.map((region) => ({
          key: region.region_id,
          cells: [
            <>
              {region.name} {region.default ? <Tag>default</Tag> : null}
            </>,
            <code>{region.region_id}</code>,
            region.location ?? <span class="faint">not stated</span>,
            hasPlace(region) ? (
              `${degrees(region.geo_lat, "N", "S")}, ${degrees(region.geo_long, "E", "W")}`
            ) : (
              <span class="faint">not stated</span>
            )
          ]
        }))}
      />
    </Card>
  </Page>
)
