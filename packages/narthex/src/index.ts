/** The public surface of the package: re-exports only. */
export {
  type Answers,
  type Client,
  type ClientEvent,
  NarthexError,
  type ProblemCode,
  problemCatalog,
  type SessionJson
} from "@narthex/api"
export type { HostSession } from "@narthex/http/web"
export { ControlPlane, createControlPlane } from "./ControlPlane.ts"
export { type HostFailureCode, hostFailures, isNarthexError } from "./failures/failures.ts"
export type { Authenticate, AuthenticateOptions, Caller, OwnPermission, RequiredOf } from "./host/Caller.ts"
export type { Events, HostItem, Subscription } from "./host/follow.ts"
export type { From, Identity, IdToken, People, Person, Sessions, StartOptions } from "./host/people.ts"
export type { IpAllowlist, Operations, WaitOptions } from "./host/projects.ts"
export type { Publication, Publishing } from "./host/publish.ts"
export type { Inside, InTransaction } from "./host/transaction.ts"
export type { HttpOptions } from "./layerHttp.ts"
export * from "./options/ControlPlaneOptions.ts"
export * from "./options/Storage.ts"
