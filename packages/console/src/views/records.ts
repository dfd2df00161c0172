/** The contract's records as pages use them, and the words and tones of their states. */
import type {
  AllowlistRecord,
  ApiKeyRecord,
  BranchRecord,
  ClientRefusalRecord,
  CredentialRecord,
  EndpointRecord,
  IpRule,
  OperationRecord,
  OwnInvitationRecord,
  ProjectRecord,
  Region,
  Whoami
} from "@narthex/api"
import type { Tone } from "../components/tone.ts"

export type ProjectShown = typeof ProjectRecord.Type
export type BranchShown = typeof BranchRecord.Type
export type CredentialShown = typeof CredentialRecord.Type
export type EndpointShown = typeof EndpointRecord.Type
export type OperationShown = typeof OperationRecord.Type
export type ApiKeyShown = typeof ApiKeyRecord.Type
export type RegionShown = Pick<Region, "region_id" | "name" | "default" | "location">
export type RuleShown = IpRule
export type AllowlistShown = typeof AllowlistRecord.Type
export type RefusalShown = typeof ClientRefusalRecord.Type

export type InvitationShown = typeof OwnInvitationRecord.Type
export type PersonShown = Whoami["user"]

/** A person's name and address, as far as they are known. The address is what the provider vouches for. */
export const personLabel = ({ email, id, name }: PersonShown): string =>
  name === null ? (email ?? id) : email === null ? name : `${name} (${email})`

/** A code as words: `create_timeline` is "create timeline". Works for unknown codes of a newer API too. */
export const words = (code: string): string => code.replaceAll("_", " ")

/** The current state of an endpoint, as a word and its tone. */
export const endpointState = (endpoint: EndpointShown): { readonly word: string; readonly tone: Tone } => {
  if (endpoint.disabled) return { word: "disabled", tone: "idle" }
  if (endpoint.current_state === "init") return { word: "creating", tone: "busy" }
  if (endpoint.pending_state === "active") return { word: "starting", tone: "busy" }
  if (endpoint.pending_state === "idle") return { word: "suspending", tone: "busy" }
  if (endpoint.current_state === "active") return { word: "active", tone: "good" }
  if (endpoint.current_state === "idle") return { word: "suspended", tone: "idle" }
  return { word: words(endpoint.current_state), tone: "busy" }
}

/** The state of a credential, as a word and its tone. */
export const credentialState = ({ state }: CredentialShown): { readonly word: string; readonly tone: Tone } => {
  if (state === "active") return { word: "valid", tone: "good" }
  return { word: state === "pending" ? "being created" : words(state), tone: "busy" }
}

/** The current state of a branch, as a word and its tone. A branch that is being made is on its way to `ready`. */
export const branchState = (branch: BranchShown): { readonly word: string; readonly tone: Tone } => {
  if (branch.current_state === "ready" && branch.pending_state === null) return { word: "ready", tone: "good" }
  if (branch.current_state === "init") return { word: "creating", tone: "busy" }
  const next = branch.pending_state === "ready" ? branch.current_state : branch.pending_state
  return { word: words(next ?? branch.current_state), tone: "busy" }
}

export const regionLabel = ({ location, name, region_id }: RegionShown): string =>
  location === undefined ? (name === region_id ? name : `${name} (${region_id})`) : `${name} · ${location}`
