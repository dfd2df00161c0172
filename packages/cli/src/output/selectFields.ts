/**
 * `--json id,name`: the chosen members of a body. A list gives an array with the members of each item, another body its
 * own members. A path such as `project.id` leads into an object.
 *
 * Pitfall: refusing an unknown member. The body is known only after the call, which may have changed something.
 */

interface Selection {
  readonly value: unknown
  /** The fields that no item has. */
  readonly missing: ReadonlyArray<string>
  /** The members that could be chosen. */
  readonly known: ReadonlyArray<string>
}

export const selectFields = (body: unknown, fields: ReadonlyArray<string>): Selection => {
  const list = listOf(body)
  const items = list ?? [body]
  const chosen = items.map((item) => Object.fromEntries(fields.map((field) => [field, memberAt(item, field) ?? null])))
  return {
    value: list === undefined ? chosen[0] : chosen,
    missing:
      items.length === 0 ? [] : fields.filter((field) => items.every((item) => memberAt(item, field) === undefined)),
    known: [...new Set(items.flatMap((item) => (isObject(item) ? Object.keys(item) : [])))]
  }
}

/** The list of a page: the only member that is a list, if the others are the page's position or counts. */
const listOf = (body: unknown): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(body)) return body
  if (!isObject(body)) return undefined
  const [list, ...others] = Object.values(body).filter((value): value is ReadonlyArray<unknown> => Array.isArray(value))
  const single = Object.entries(body).some(([name, value]) => name !== "pagination" && isObject(value))
  return others.length === 0 && !single && !("id" in body) ? list : undefined
}

const memberAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
