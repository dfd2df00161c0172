/** The form that creates a project: a name, and a region when there are several. */
import type { OfferedSize } from "@narthex/api"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import { Tag } from "../components/Tag.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { errorOf } from "./Members.tsx"
import { regionLabel } from "./records.ts"
import { SizeField } from "./SizeField.tsx"
import { type PlacedRegion, WorldMap } from "./WorldMap.tsx"

export interface ProjectDraft {
  readonly name: string
  /** `""`: none is chosen. */
  readonly region: string
  /** `""`: the default. */
  readonly size: string
}

export interface NewProjectPageProps {
  readonly frame: Frame
  readonly regions: ReadonlyArray<PlacedRegion>
  readonly sizes: ReadonlyArray<OfferedSize>
  readonly draft: ProjectDraft
  /** Makes a form that is sent twice create one project. */
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly problem?: string | undefined
}

export const NewProjectPage = (props: NewProjectPageProps) => {
  const { draft, errors, form_token, frame, problem, regions, sizes } = props
  const projects = `/orgs/${frame.organization.id}/projects`
  const [only, ...others] = regions
  return (
    <Page title="New project" frame={frame} section="projects" errors={errors} problem={problem} narrow>
      <Card id="new-project">
        <form method="post" action={projects} class="stack slim">
          <HiddenFields fields={{ form_token }} />
          <Field
            name="name"
            label="Name"
            value={draft.name}
            error={errorOf(errors, "name")}
            required
            maxLength={128}
            hint="You can change it later."
          />
          {only === undefined ? (
            <p>No region is active, so no project can be created. Ask the operator to add a region.</p>
          ) : others.length === 0 ? (
            <p class="soft">Region: {regionLabel(only)}.</p>
          ) : (
            <Regions {...props} />
          )}
          <SizeField sizes={sizes} value={draft.size} error={errorOf(errors, "size")} />
          <Actions>
            <button type="submit" class="primary">
              Create project
            </button>
            <a class="button" href={projects}>
              Cancel
            </a>
          </Actions>
        </form>
      </Card>
    </Page>
  )
}

const Regions = ({ draft, errors, regions }: NewProjectPageProps) => {
  const error = errorOf(errors, "region")
  return (
    <div
      class="options"
      role="radiogroup"
      aria-labelledby="region-label"
      aria-invalid={error === undefined ? undefined : "true"}
      aria-describedby={error === undefined ? "region-hint" : "region-hint region-error"}
    >
      <p class="label" id="region-label">
        Region
      </p>
      <WorldMap regions={regions} />
      <p class="hint" id="region-hint">
        A project cannot change its region. Branches and endpoints are in the same one.
      </p>
      {regions.map((region, index) => (
        <label key={region.region_id} htmlFor={index === 0 ? "region" : `region-${region.region_id}`}>
          <input
            type="radio"
            name="region"
            value={region.region_id}
            id={index === 0 ? "region" : `region-${region.region_id}`}
            checked={draft.region === region.region_id}
            required
          />
          <span>
            <strong>{regionLabel(region)}</strong>
            {region.default ? <Tag>default</Tag> : null}
          </span>
        </label>
      ))}
      {error === undefined ? null : (
        <p class="error" id="region-error">
          {error}
        </p>
      )}
    </div>
  )
}
