/** `--project <project_id>`. Only what could be an id gets into a path. */
import { parseProjectId } from "@narthex/api"
import { Flag } from "effect/cli"

export const projectFlag = Flag.String("project").pipe(
  Flag.withMetavar("project_id"),
  Flag.withDescription("The project, prj-…"),
  Flag.filterMap(parseProjectId, () => "Expected an id like prj-01hzx…; narthex project list shows them")
)
