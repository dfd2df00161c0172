/** A project: storage and compute of an organization in one region, fixed at creation. */
import { Schema } from "effect"
import { BranchId, OrgId, ProjectId, RegionId } from "../../Ids.ts"
import { exampleIds as ids, means } from "../../means.ts"

const fields = {
  id: ProjectId,
  org_id: OrgId,
  name: Schema.String.annotateKey(means("The name of the project.", "checkout")),
  region_id: RegionId,
  note: Schema.NullOr(Schema.String),
  default_branch_id: BranchId.annotateKey(means("The id of the default branch.", ids.branch)),
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString
}

export class Project extends Schema.Class<Project>("Project")(fields) {}

/** A project as the API shows it: `region` is an alias of `region_id`. */
export class ProjectView extends Schema.Class<ProjectView>("ProjectView")({ ...fields, region: RegionId }) {
  static of(project: Project): ProjectView {
    return new ProjectView({ ...project, region: project.region_id })
  }
}
