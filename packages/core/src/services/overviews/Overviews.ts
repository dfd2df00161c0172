/**
 * Overviews for pages (docs/design/api.md A28 to A32). An overview has nothing that the caller could not read with
 * other calls.
 *
 * Callers authorize first.
 */
import { Context, DateTime, Effect, Layer, Predicate } from "effect"
import { BranchId, type ProjectId, UserId } from "../../Ids.ts"
import { rulesInForce } from "../../records/allowlist/IpRule.ts"
import type { Envelope } from "../../records/events/Envelope.ts"
import type {
  Names,
  PersonOverview,
  ProjectOverview,
  ProjectPart,
  ProjectUse
} from "../../records/overviews/Overview.ts"
import { type NamesAsked, OverviewStore } from "../../records/overviews/OverviewStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import { sizeOf } from "../../records/quotas/BranchDisk.ts"
import { QuotaPolicy } from "../../records/quotas/Quota.ts"
import { type AnyCaller, branchScopeOf, type SessionCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { invitedAddress } from "../sign-in/acceptInvitation.ts"

/** The most of each that an overview of a person has. */
const personLimits = { organizations: 200, invitations: 100, projects: 100 } as const

/** The most of each that an overview of a project has. */
const projectLimits = { branches: 1000, endpoints: 1000, operations: 10 } as const

export class Overviews extends Context.Service<
  Overviews,
  {
    /** `projects`: whether the newest projects of the organization are asked for. */
    readonly ofPerson: (
      caller: SessionCaller,
      wanted: { readonly projects: boolean }
    ) => Effect.Effect<PersonOverview, StorageError>
    /** The asked parts of a project, which the caller may read as a whole; the others are empty. */
    readonly ofProject: (
      project: Pick<Project, "id">,
      parts: ReadonlyArray<ProjectPart>
    ) => Effect.Effect<ProjectOverview, StorageError>
    /** The use of projects that the caller sees; a branch key sees that of its branch. */
    readonly ofProjects: (
      caller: AnyCaller,
      projects: ReadonlyArray<Project>
    ) => Effect.Effect<ReadonlyMap<ProjectId, ProjectUse>, StorageError>
    /** The names of the objects that the events mention, and of people if the caller may list the members. */
    readonly namesIn: (caller: AnyCaller, events: ReadonlyArray<Envelope>) => Effect.Effect<Names, StorageError>
  }
>()("@narthex/core/services/overviews/Overviews") {
  static readonly layer: Layer.Layer<Overviews, never, OverviewStore> = Layer.effect(
    Overviews,
    Effect.map(OverviewStore, (store) =>
      Overviews.of({
        ofPerson: Effect.fn("Overviews.ofPerson")(function* ({ org_id, user }, { projects }) {
          return yield* store.ofPerson({
            user: user.id,
            address: invitedAddress(user) ?? null,
            org: org_id,
            now: yield* DateTime.now,
            limits: projects ? personLimits : { ...personLimits, projects: 0 }
          })
        }),
        ofProject: Effect.fn("Overviews.ofProject")(function* ({ id }, parts) {
          const limit = (part: keyof typeof projectLimits) => (parts.includes(part) ? projectLimits[part] : 0)
          const { disks, rules, ...contents } = yield* store.ofProject(id, {
            branches: limit("branches"),
            endpoints: limit("endpoints"),
            operations: limit("operations"),
            rules: parts.includes("ip_allow")
          })
          const settings = yield* QuotaPolicy
          const sizes = disks.map((disk) => sizeOf(settings, disk))
          return { ...contents, sizes, ip_allow: rulesInForce(rules, yield* DateTime.now) }
        }),
        ofProjects: Effect.fn("Overviews.ofProjects")(function* (caller, projects) {
          const uses = projects.length === 0 ? [] : yield* store.ofProjects(projects, branchScopeOf(caller))
          return new Map(uses.map((use) => [use.project_id, use]))
        }),
        namesIn: Effect.fn("Overviews.namesIn")(function* (caller, events) {
          const asked = mentionedIn(events)
          const mayListMembers = caller.kind === "session" || caller.scope.type === "organization"
          return yield* store.names(caller.org_id, mayListMembers ? asked : { ...asked, people: [] })
        })
      })
    )
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** The person who asked for the work of an operation. */
const personIn = ({ data }: Envelope): string | undefined => {
  const by = data["initiator"]
  const isPerson = Predicate.hasProperty(by, "type") && by.type === "user"
  return isPerson && Predicate.hasProperty(by, "id") ? textOf(by.id) : undefined
}

/** Projects, branches and people that the events name, each once. */
const mentionedIn = (events: ReadonlyArray<Envelope>): NamesAsked => ({
  projects: each(events, ({ project_id }) => project_id),
  branches: each(events, ({ data }) => textOf(data["branch_id"])).map((id) => BranchId.make(id)),
  people: each(events, personIn).map((id) => UserId.make(id))
})

const each = <Id extends string>(
  events: ReadonlyArray<Envelope>,
  idOf: (event: Envelope) => Id | undefined
): ReadonlyArray<Id> => [...new Set(events.flatMap((event) => idOf(event) ?? []))]
