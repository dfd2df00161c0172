/**
 * `npm run reference`: builds the libraries and generates `docs/reference` from their declarations.
 *
 * `test/packages/reference.test.ts` compares the committed pages. They are not generated with the other pages, because
 * declarations have to be built, which costs half a minute of a core.
 */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { isProgram, publicPackages, root } from "./packages/Manifest.ts"
import { type Entry, referencePages } from "./reference/pages.ts"
import { passedOn, publicModules } from "./reference/publicModules.ts"
import { sortedUnions } from "./reference/sortedUnions.ts"

const folder = join(root, "docs/reference")

const run = (command: string, args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8" })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`)
}

/**
 * The compiler names a type of another module by `import("…")`, where the source imports it. Only the name is for
 * readers. A module of Effect keeps its name: `import("effect/http-api/HttpApi").HttpApi` becomes `HttpApi.HttpApi`.
 */
const readable = (text: string) =>
  text.replace(/import\("([^"]+)"\)\./g, (_, from: string) =>
    from.startsWith(".") || from.startsWith("@narthex/") ? "" : `${(from.split("/").at(-1) ?? "").replaceAll("-", "")}.`
  )

/** Copies the declarations of the built libraries to `scratch`, without their inline imports, in our order and format. */
const formatted = (scratch: string) => {
  writeFileSync(
    join(scratch, "biome.json"),
    readFileSync(join(root, "biome.json"), "utf8").replace(
      '"enabled": true,\n    "clientKind"',
      '"enabled": false,\n    "clientKind"'
    )
  )
  for (const file of globSync("packages/*/dist/**/*.d.ts", { cwd: root })) {
    mkdirSync(dirname(join(scratch, file)), { recursive: true })
    writeFileSync(join(scratch, file), sortedUnions(file, readable(readFileSync(join(root, file), "utf8"))))
  }
  run(join(root, "node_modules/.bin/biome"), [
    "format",
    "--write",
    "--config-path",
    scratch,
    "--log-level=error",
    scratch
  ])
}

/** The entries of all libraries, read from declarations in `scratch`. */
const entries = (scratch: string): ReadonlyArray<Entry> =>
  publicPackages
    .filter((pack) => !isProgram(pack))
    .flatMap(({ folder: name, manifest }) =>
      Object.entries(manifest.exports).flatMap(([entry, target]) => {
        if (typeof target === "string" || target["types"] === undefined || target["source"] === undefined) return []
        const declarations = join(scratch, "packages", name, dirname(target["types"]))
        const file = basename(target["types"])
        const own = entry === "." ? "" : entry.slice(1)
        return [
          {
            name: `${manifest.name}${own}`,
            description: manifest.description,
            page: `${name}${own.replaceAll("/", "-")}`,
            sources: join("packages", name, dirname(target["source"])),
            modules: publicModules(declarations, file),
            others: passedOn(declarations, file)
          }
        ]
      })
    )

/** The pages that the declarations of this checkout make: path below `docs/reference` → text. Builds the libraries. */
export const generate = (): Readonly<Record<string, string>> => {
  run(join(root, "node_modules/.bin/tsc"), ["-b", "tsconfig.build.json"])
  const scratch = mkdtempSync(join(tmpdir(), "narthex-reference-"))
  try {
    formatted(scratch)
    return referencePages(entries(scratch))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const pages = generate()
  rmSync(folder, { recursive: true, force: true })
  for (const [file, text] of Object.entries(pages)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  console.log(`reference: ${Object.keys(pages).length} pages in docs/reference`)
}
