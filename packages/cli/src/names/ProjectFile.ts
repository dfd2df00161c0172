/**
 * The file `.narthex` of a working folder: the project, and optionally the branch, of commands that name none. It is
 * JSON, `{"project":"shop","branch":"preview"}`, with names or ids, and is meant to be committed. It never has a
 * secret.
 *
 * Pitfall: treating every `.narthex` as the file. A platform's data directory has the same name, and is skipped.
 */
import { readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { Effect, Option, Schema } from "effect"
import { withoutMark } from "../environment/withoutMark.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"

const Content = Schema.fromJsonString(
  Schema.Struct({ project: Schema.NonEmptyString, branch: Schema.optionalKey(Schema.NonEmptyString) })
)
const decode = Schema.decodeOption(Content)

export interface ProjectFile {
  readonly path: string
  readonly project: string
  readonly branch: string | undefined
}

const projectFileName = ".narthex"

/** A file is two names; more bytes than this are another file. */
const mostBytes = 65_536

/** The file of the folder, else of the nearest folder above it. */
export const findProjectFile = (folder: string): Effect.Effect<ProjectFile | undefined, UsageMistake> =>
  Effect.suspend(() => {
    for (let at = folder; ; at = dirname(at)) {
      const path = join(at, projectFileName)
      const read = readSmallFile(path)
      if (read._tag === "Text") return understood(path, read.text)
      if (read._tag === "Unreadable") return Effect.fail(unusable(path, "cannot be read"))
      if (dirname(at) === at) return Effect.undefined
    }
  })

const understood = (path: string, text: string): Effect.Effect<ProjectFile, UsageMistake> =>
  Option.match(decode(text), {
    onNone: () => Effect.fail(unusable(path, "is not a project file")),
    onSome: ({ branch, project }) => Effect.succeed({ path, project, branch })
  })

const unusable = (path: string, what: string) =>
  new UsageMistake({
    message: `${path} ${what}.`,
    hint: `its content is {"project":"<name or id>","branch":"<name or id>"}, the branch is optional`
  })

type Read = { readonly _tag: "Text"; readonly text: string } | { readonly _tag: "Unreadable" | "Absent" }

/** Anything but a regular file is absent: opening a pipe would wait for its writer. */
const readSmallFile = (path: string): Read => {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined || !found.isFile()) return { _tag: "Absent" }
    return found.size > mostBytes
      ? { _tag: "Unreadable" }
      : { _tag: "Text", text: withoutMark(readFileSync(path, "utf8")) }
  } catch {
    return { _tag: "Unreadable" }
  }
}
