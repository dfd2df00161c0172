/** The capabilities of keys, in words (docs/design/authorization.md, Effective rights). */

export interface CapabilityWords {
  readonly value: string
  readonly name: string
  readonly meaning: string
}

export const capabilities: ReadonlyArray<CapabilityWords> = [
  {
    value: "read_write",
    name: "Read and write",
    meaning: "Everything you can do, except create keys and organizations. For programs and the command line."
  },
  {
    value: "read",
    name: "Read only",
    meaning: "Reads and follows events. Changes nothing and makes no database credentials. For monitoring."
  },
  {
    value: "agent",
    name: "Agent",
    meaning:
      "Reads everything, makes branches and sandboxes of its own and writes to them. Reads main, and cannot change it. For coding agents."
  }
]

/** For a select, where there is no room for sentences. */
export const capabilityChoices = [
  { value: "read_write", label: "Read and write" },
  { value: "read", label: "Read only" },
  { value: "agent", label: "Agent: manages branches, cannot write to main" }
] as const

export const capabilityName = (capability: string): string =>
  capabilities.find(({ value }) => value === capability)?.name ?? capability.replaceAll("_", " ")

export const capabilityMeaning = (capability: string): string =>
  capabilities.find(({ value }) => value === capability)?.meaning ?? ""
