/**
 * Names that people know from other command lines: `narthex projects ls` is `narthex project list`, and
 * `narthex branch rm` is `narthex branch delete`. Help and completion show the names of the commands alone.
 */

/** Each group that has a list, and its command that ends an object. */
const groups: Readonly<Record<string, string | undefined>> = {
  context: "remove",
  project: "delete",
  branch: "delete",
  endpoint: "delete",
  operation: undefined,
  credential: "revoke",
  "ip-allow": "remove",
  region: undefined,
  size: undefined,
  org: "delete",
  member: "remove",
  invitation: "revoke",
  session: "end",
  "api-key": "revoke",
  audit: undefined,
  webhook: "delete"
}

const singulars = new Map(
  Object.keys(groups).map((name) => [name.endsWith("ch") ? `${name}es` : `${name}s`, name] as const)
)

/** The arguments with the names of the commands. */
export const usualNames = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, second, ...others] = args
  if (first === undefined) return args
  if (first === "help") return [first, ...usualNames(args.slice(1))]
  const group = singulars.get(first) ?? first
  if (second === undefined) return [group]
  if (!Object.hasOwn(groups, group)) return args
  const command = second === "ls" ? "list" : second === "rm" ? (groups[group] ?? second) : second
  return [group, command, ...others]
}
