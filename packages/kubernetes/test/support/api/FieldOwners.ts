/**
 * Which field manager has set which fields of an object, for server-side apply. Lists have one owner, as a list
 * without a key has.
 */
import { ApiFailure } from "./ApiFailure.ts"
import { at, type Fields, fieldsAt, isFields, isSame, leaves, type Path, withAt } from "./json.ts"

/** Names of an object, which have no owner. */
const unowned = [
  "apiVersion",
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "metadata.resourceVersion"
]

const ownedLeaves = (object: Fields) =>
  leaves(object).filter(
    (path) => !unowned.includes(path.join(".")) && path[0] !== "status" && !path.includes("managedFields")
  )

const keyOf = (path: Path) => JSON.stringify(path)

const merged = (target: Fields, applied: Fields): Fields => {
  let result = target
  for (const [name, value] of Object.entries(applied))
    result = withAt(result, [name], isFields(value) ? merged(fieldsAt(result, name), value) : value)
  return result
}

/** Removes a member, and the objects that it leaves empty. */
const removed = (object: Fields, path: Path): Fields => {
  const without = withAt(object, path, undefined)
  const parent = path.slice(0, -1)
  return parent.length > 0 && Object.keys(fieldsAt(without, ...parent)).length === 0
    ? removed(without, parent)
    : without
}

interface Owned {
  readonly path: Path
  readonly managers: Set<string>
}

export class FieldOwners {
  readonly #fields = new Map<string, Owned>()

  #own(path: Path, manager: string, alone: boolean) {
    const owned = this.#fields.get(keyOf(path)) ?? { path, managers: new Set<string>() }
    if (alone) owned.managers.clear()
    owned.managers.add(manager)
    this.#fields.set(keyOf(path), owned)
  }

  /** Records a change that was no apply: its manager owns the fields that it has changed, alone. */
  changed(manager: string, former: Fields | undefined, next: Fields): void {
    for (const path of ownedLeaves(next))
      if (former === undefined || !isSame(at(former, ...path), at(next, ...path))) this.#own(path, manager, true)
    for (const [key, { path }] of this.#fields) if (at(next, ...path) === undefined) this.#fields.delete(key)
  }

  /** The object after an apply. Fields that the manager applied before and leaves out now are removed. */
  apply(manager: string, former: Fields, config: Fields, force: boolean): Fields {
    const paths = ownedLeaves(config)
    const conflicts = paths.filter((path) => {
      const others = [...(this.#fields.get(keyOf(path))?.managers ?? [])].filter((it) => it !== manager)
      return others.length > 0 && !isSame(at(former, ...path), at(config, ...path))
    })
    if (conflicts.length > 0 && !force)
      throw new ApiFailure(
        409,
        "Conflict",
        `Apply failed with ${conflicts.length} conflict(s): ${conflicts.map((path) => `.${path.join(".")}`).join(", ")}`,
        { causes: conflicts.map((path) => ({ reason: "FieldManagerConflict", field: `.${path.join(".")}` })) }
      )
    let next = merged(former, config)
    const keys = new Set(paths.map(keyOf))
    for (const [key, { managers, path }] of this.#fields) {
      if (keys.has(key) || !managers.delete(manager) || managers.size > 0) continue
      this.#fields.delete(key)
      if (!paths.some((kept) => path.every((name, index) => kept[index] === name))) next = removed(next, path)
    }
    for (const path of paths) this.#own(path, manager, conflicts.includes(path))
    return next
  }
}
