/**
 * The table of roles that a program uses: the built-in one, or with permissions and roles that a host adds when it
 * embeds the control plane (docs/design/authorization.md Z45 to Z48).
 *
 * An addition never takes anything away from a built-in role, and never gives an own role more of the built-in
 * permissions than the built-in role that it is like.
 */
import { Context, Data, Effect, Layer } from "effect"
import { coversRole, isKnownRole, type KnownRole, knownRoles, type Permission, permissionsOf } from "./Permission.ts"
import type { CallEffect } from "./Policy.ts"

export interface RoleTable {
  /** The built-in permissions of a role; an unknown role has none. */
  readonly permissionsOf: (role: string) => ReadonlySet<Permission>
  /** The host's own permissions of a role. */
  readonly ownPermissionsOf: (role: string) => ReadonlySet<string>
  /** Whether `role` has every permission of `other`. A member cannot grant a role above their own. */
  readonly covers: (role: string, other: string) => boolean
  readonly isKnown: (role: string) => boolean
  /** The effect of calls that ask for an own permission; `undefined`: the permission is not declared. */
  readonly effectOf: (permission: string) => CallEffect | undefined
}

export interface OwnRole {
  /** A built-in role whose permissions it has. Left out: none, not even to read. */
  readonly like?: Exclude<KnownRole, "owner">
  readonly permissions: ReadonlyArray<string>
}

/** The permissions and roles that a host adds. */
export interface RoleAdditions {
  /**
   * Own permissions, such as `invoices.read`, with what a call that asks for one does: `read` for keys that only read.
   */
  readonly permissions: Readonly<Record<string, CallEffect>>
  /** Own permissions of built-in roles. The roles above one have them too, and owners have all. */
  readonly grants?: Partial<Readonly<Record<KnownRole, ReadonlyArray<string>>>>
  /** Own roles, by name. */
  readonly roles?: Readonly<Record<string, OwnRole>>
}

/** The additions contradict themselves or the built-in table. The program does not start. */
export class MalformedRoles extends Data.TaggedError("MalformedRoles")<{ readonly message: string }> {}

const none: ReadonlySet<never> = new Set()

export const builtInRoles: RoleTable = {
  permissionsOf,
  ownPermissionsOf: () => none,
  covers: coversRole,
  isKnown: isKnownRole,
  effectOf: () => undefined
}

const permissionForm = /^(?=.{1,100}$)[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/
/** The form of the name of a role. */
export const roleName = /^[a-z][a-z0-9_-]{0,49}$/

/** The mistake in additions, as a sentence; `undefined`: none. */
const problemOf = ({ grants = {}, permissions, roles = {} }: RoleAdditions): string | undefined => {
  const misnamed = Object.keys(permissions).find((name) => !permissionForm.test(name))
  if (misnamed !== undefined)
    return `The permission "${misnamed}" is malformed: words of lower-case letters, digits and underscores with a dot between them, such as "invoices.read".`
  const role = Object.keys(roles).find((name) => isKnownRole(name) || !roleName.test(name))
  if (role !== undefined)
    return isKnownRole(role)
      ? `The role "${role}" is built in. Give it own permissions with "grants".`
      : `The role "${role}" is malformed: lower-case letters, digits, hyphens and underscores, 50 characters at most.`
  const strange = Object.keys(grants).find((name) => !isKnownRole(name))
  if (strange !== undefined) return `"grants" names "${strange}", which is no built-in role.`
  const given = [...Object.values(grants), ...Object.values(roles).map((it) => it.permissions)].flat()
  const undeclared = given.find((name) => !Object.hasOwn(permissions, name))
  return undeclared === undefined ? undefined : `The permission "${undeclared}" is granted but not declared.`
}

const includes = <A>(all: ReadonlySet<A>, some: ReadonlySet<A>) => [...some].every((it) => all.has(it))

/** The built-in table with a host's additions. */
const extended = ({ grants = {}, permissions, roles = {} }: RoleAdditions): RoleTable => {
  const effects = new Map(Object.entries(permissions))
  const ownOfBuiltIn = (role: KnownRole) =>
    role === "owner"
      ? [...effects.keys()]
      : knownRoles.slice(0, knownRoles.indexOf(role) + 1).flatMap((weaker) => grants[weaker] ?? [])
  const ownRoles = new Map(Object.entries(roles))
  const own = new Map<string, ReadonlySet<string>>([
    ...knownRoles.map((role) => [role, new Set(ownOfBuiltIn(role))] as const),
    ...[...ownRoles].map(
      ([name, { like, permissions }]) =>
        [name, new Set([...(like === undefined ? [] : ownOfBuiltIn(like)), ...permissions])] as const
    )
  ])
  const builtInOf = (role: string) => permissionsOf(ownRoles.get(role)?.like ?? role)
  const ownPermissionsOf = (role: string) => own.get(role) ?? none
  const isKnown = (role: string) => own.has(role)
  return {
    permissionsOf: builtInOf,
    ownPermissionsOf,
    isKnown,
    covers: (role, other) =>
      isKnown(role) &&
      isKnown(other) &&
      includes(builtInOf(role), builtInOf(other)) &&
      includes(ownPermissionsOf(role), ownPermissionsOf(other)),
    effectOf: (permission) => effects.get(permission)
  }
}

export const Roles = Context.Reference<RoleTable>("@narthex/core/rules/authorization/Roles", {
  defaultValue: () => builtInRoles
})

/** Adds a host's permissions and roles to the built-in ones, in every part of the program. */
export const layerRoles = (additions: RoleAdditions): Layer.Layer<never, MalformedRoles> =>
  Layer.effect(
    Roles,
    Effect.suspend(() => {
      const message = problemOf(additions)
      return message === undefined ? Effect.succeed(extended(additions)) : Effect.fail(new MalformedRoles({ message }))
    })
  )
