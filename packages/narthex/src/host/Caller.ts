/**
 * The caller of an endpoint of the host, and the caller's rights (docs/design/library.md N24–N28).
 *
 * Everything is read from storage for each call: a revocation or a demotion acts on the next one.
 */
import { NarthexError, problemCatalog, type Whoami } from "@narthex/api"
import {
  type AnyCaller,
  Authentication,
  Authorization,
  effectivePermissions,
  InvalidCredential,
  NotFound,
  type PathIds,
  Permission,
  Roles,
  type RoleTable,
  requirement,
  requireOwn
} from "@narthex/core"
import { DateTime, Effect, Predicate, Redacted, Schema } from "effect"
import { hostFailure } from "../failures/failures.ts"
import { isRecord, nameOf, objectOf, optional, orNull, reading, text } from "../failures/forms.ts"
import { placing } from "../failures/placing.ts"
import { invalidInput, requireForm } from "./inputs.ts"
import type { Run } from "./Run.ts"

/** The object that a permission is asked for. Branches, endpoints and operations are named with their project. */
export type RequiredOf = Pick<
  PathIds,
  "org_id" | "project_id" | "branch_id" | "endpoint_id" | "operation_id" | "user_id"
>

/** The answer of the API's `whoami`, and the decision. */
export interface Caller extends Readonly<typeof Whoami.Encoded> {
  /** The organization that the credential acts in. */
  readonly org_id: string
  /**
   * Resolves if the caller has this permission on this object, which is in the caller's organization; without an
   * object, in the whole organization. Rejects as the API would: `scope_insufficient`, `capability_insufficient`,
   * `role_insufficient`, `not_found`; with `target_invalid` for a target with another member, or one that is
   * `undefined`; and with `invalid_input` for a permission that does not exist. An agent key passes for `read` only. For
   * one of the host's own permissions (`roles`), nothing is looked up: the target says what the host's object belongs
   * to.
   *
   * Pitfall: keeping a caller, for a stream or a socket. `require` decides by what `authenticate` has read, so it still
   * resolves after the session, the key or the membership has ended. Ask `again` first.
   */
  readonly require: (permission: Permission | OwnPermission, target?: RequiredOf) => Promise<void>
  /** The caller of the same credential as storage has it now. Rejects as `authenticate` does once it has ended. */
  readonly again: () => Promise<Caller>
}

/** A permission of the host's own, such as `invoices.read`. */
export type OwnPermission = `${string}.${string}`

const isOwn = (permission: Permission | OwnPermission): permission is OwnPermission => permission.includes(".")
const isBuiltIn = Schema.is(Permission)

const requirePermission = (permission: Permission | OwnPermission) => {
  if (Predicate.isString(permission) && (isOwn(permission) || isBuiltIn(permission))) return
  throw invalidInput(
    `permission: expected ${Permission.literals.join(", ")}, or one of your own such as "invoices.read", not ${
      Predicate.isString(permission) ? "another text" : nameOf(permission)
    }.`
  )
}

const targets: Record<keyof RequiredOf, true> = {
  org_id: true,
  project_id: true,
  branch_id: true,
  endpoint_id: true,
  operation_id: true,
  user_id: true
}

/**
 * The problem with a target that names no object, as a sentence.
 *
 * Pitfall: leaving out the check. `{ projectId }`, or an id that is `undefined`, would ask for the whole organization, which
 * sessions and keys of the organization pass for every object.
 */
const misnamed = (target: object): string | undefined =>
  reading("target", () => {
    const names = Object.keys(targets).join(", ")
    if (!isRecord(target)) return `target: expected an object with ${names}, not ${nameOf(target)}.`
    const wrong = Object.entries(target).find(([name, id]) => !Object.hasOwn(targets, name) || typeof id !== "string")
    return wrong === undefined ? undefined : `${wrong[0]}: expected the id of an object as ${names}.`
  })

export interface AuthenticateOptions {
  /** The client's address, for the record of a key's last use. */
  readonly address?: string | null
}

const optionForm = objectOf<AuthenticateOptions>({ address: optional(orNull(text)) })

/**
 * The caller of a credential: an API key or a session token, alone or as the header `Bearer …`, as the request has it:
 * `cp.authenticate(request.headers.authorization)`. Rejects with `unauthenticated` for `undefined` and `null`, and with
 * `invalid_token`, `token_expired`, `sign_in_required`.
 *
 * Pitfall: taking a caller for a permission. A key of a former member authenticates, and has none: ask `require`.
 *
 * @example
 * import { createServer } from "node:http"
 * import { createControlPlane } from "narthex"
 * const cp = await createControlPlane()
 * createServer(async ({ headers }, response) => {
 *   const caller = await cp.authenticate(headers.authorization)
 *   await caller.require("read")
 *   response.end(`hello ${caller.user.email}`)
 * })
 */
export type Authenticate = (credential: string | null | undefined, options?: AuthenticateOptions) => Promise<Caller>

const unauthenticated = () => {
  const { next, status, title } = problemCatalog.unauthenticated
  return new NarthexError({ code: "unauthenticated", status, title, detail: `${title} ${next}` })
}

const isoOf = (instant: DateTime.Utc | null) => (instant === null ? null : DateTime.formatIso(instant))

const profileOf = ({ email, id, name }: AnyCaller["user"]) => ({ id, email, name })

const callerOf = (caller: AnyCaller, roles: RoleTable, run: Run, again: () => Promise<Caller>): Caller => {
  const { account_state, invited_by, kind, org_id, organization } = caller
  const key = caller.kind === "api_key" ? caller : undefined
  return {
    kind,
    user: profileOf(caller.user),
    org_id,
    organization: {
      id: organization.id,
      name: organization.name,
      role: organization.role,
      personal: organization.personal
    },
    invited_by: invited_by === null ? null : { id: invited_by.id, email: invited_by.email, name: invited_by.name },
    account_state,
    capability: key?.capability ?? null,
    scope: key?.scope ?? null,
    api_key:
      key === undefined ? null : { id: key.api_key_id, name: key.api_key_name, expires_at: isoOf(key.expires_at) },
    expires_at: isoOf(caller.expires_at),
    permissions: effectivePermissions(caller, roles),
    again,
    require: placing("caller.require", async (permission, target = {}) => {
      requirePermission(permission)
      const wrong = misnamed(target)
      if (wrong !== undefined) throw hostFailure("target_invalid", wrong)
      if (isOwn(permission)) {
        const foreign = target.org_id !== undefined && target.org_id !== org_id
        return run(foreign ? Effect.fail(new NotFound({})) : requireOwn(permission, caller, target))
      }
      const policy = requirement(permission, target)
      return run(
        Authorization.use(({ admit, find }) =>
          Effect.asVoid(Effect.andThen(admit(policy, caller, target), find(policy, caller, target)))
        )
      )
    })
  }
}

/** The credential without the name of its scheme; `undefined`: it has the form of none. */
const tokenOf = (credential: string): string | undefined =>
  /^\S+$/.test(credential) ? credential : /^(?:bearer +)?(\S+) *$/i.exec(credential)?.[1]

const refused = Effect.fail(new InvalidCredential({}))

/** Asks for the caller. Throws for arguments of another form. */
const authenticating = (credential: string | null | undefined, options: AuthenticateOptions | undefined) => {
  if (credential === undefined || credential === null) throw unauthenticated()
  requireForm("credential", credential, text)
  if (options !== undefined) requireForm("options", options, optionForm)
  const token = tokenOf(credential)
  const address = options?.address ?? null
  return token === undefined
    ? refused
    : Authentication.use(({ authenticate }) => authenticate(Redacted.make(token, { label: "credential" }), address))
}

export const makeAuthenticate = (run: Run): Authenticate => {
  const authenticate: Authenticate = placing("authenticate", async (credential, options) => {
    const again = () => authenticate(credential, options)
    return run(
      Effect.flatMap(authenticating(credential, options), (caller) =>
        Effect.map(Roles, (roles) => callerOf(caller, roles, run, again))
      )
    )
  })
  return authenticate
}
