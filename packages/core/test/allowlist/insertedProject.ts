import { Effect } from "effect"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { aProject } from "../../testing/records.ts"

/** A project that exists: a list is changed only while its project does. */
export const insertedProject = Effect.gen(function* () {
  const project = aProject()
  yield* (yield* ProjectStore).insert(project)
  return project
})
