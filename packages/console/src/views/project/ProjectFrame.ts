/** The props of every page of a project. */
import type { Frame, ProjectInFrame, ProjectSection } from "../../shell/Frame.ts"
import type { ProjectShown } from "../records.ts"

export interface ProjectPageProps {
  readonly frame: Frame
  readonly project: ProjectShown
  /** A confirmation of the last action. */
  readonly notice?: string | undefined
  /** Why the last action did nothing. */
  readonly problem?: string | undefined
}

/** The address of a project. */
export const pathOf = ({ frame, project }: Pick<ProjectPageProps, "frame" | "project">): string =>
  `/orgs/${frame.organization.id}/projects/${project.id}`

export const mayChange = ({ permissions }: Frame): boolean => permissions.includes("change_projects")

/** The props of `Page` that say in which project it is. */
export const inSection = (
  { frame, notice, problem, project }: ProjectPageProps,
  section: ProjectSection,
  more: Pick<ProjectInFrame, "branch"> = {}
) =>
  ({
    frame,
    notice,
    problem,
    section: "projects",
    project: { id: project.id, name: project.name, section, ...more }
  }) as const
