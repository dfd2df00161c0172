/** The list of migrations, made of the files in their folder, and the digest of each text. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const folder = resolve(root, "packages/postgres/src/migrations")
const digests = "test/serving/migrationDigests.json"

/** Each file exports its text and nothing else. */
const read = async (file: string) => {
  const exported: ReadonlyArray<readonly [string, unknown]> = Object.entries(await import(resolve(folder, file)))
  const [[variable, text] = []] = exported
  if (exported.length !== 1 || typeof text !== "string") throw new Error(`${file} must export one text.`)
  return { name: file.replace(/\.ts$/, ""), variable, text }
}

const migrations = await Promise.all(readdirSync(folder).toSorted().map(read))

const list = () =>
  [
    "// Generated from packages/postgres/src/migrations/ by scripts/docs.ts: change it there.",
    "/** The migrations in the order of execution, which is that of their names. */",
    ...migrations.map(({ name, variable }) => `import { ${variable} } from "./migrations/${name}.ts"`),
    "",
    "export const migrations: ReadonlyArray<readonly [name: string, text: string]> = [",
    migrations.map(({ name, variable }) => `  ["${name}", ${variable}]`).join(",\n"),
    "]",
    ""
  ].join("\n")

/** A new migration gets its digest here. A digest that is there stays, so that a later change of the text is noticed. */
const allDigests = () => {
  const present = migrations.map(({ name, text }) => [name, createHash("md5").update(text).digest("hex")])
  const released: object = JSON.parse(readFileSync(resolve(root, digests), "utf8"))
  return `${JSON.stringify({ ...Object.fromEntries(present), ...released }, undefined, 2)}\n`
}

export const migrationPages: Readonly<Record<string, () => string>> = {
  "packages/postgres/src/migrationList.ts": list,
  [digests]: allDigests
}
