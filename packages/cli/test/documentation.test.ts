import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { environmentTable } from "../src/environment/environmentTable.ts"
import { version } from "../src/environment/version.ts"

const root = join(import.meta.dirname, "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const sources = globSync("src/**/*.ts", { cwd: root })

describe("the package", () => {
  it("version.ts has the version of package.json", () => {
    assert.strictEqual(JSON.parse(read("package.json")).version, version)
  })

  it("only output/ prints", () => {
    const printing = sources.filter(
      (file) =>
        !file.startsWith("src/output/") &&
        /\bConsole\.\w|\bconsole\.(log|error|warn|info)\b|\.stderr\b|\bdisplay\(/.test(read(file))
    )
    assert.deepStrictEqual(printing, [])
  })

  it("only Environment.ts reads the environment, and every variable for users is documented", () => {
    const reading = sources.filter((file) => /process\.env|\bConfig(Provider)?\b/.test(read(file)))
    assert.deepStrictEqual(reading, ["src/environment/Environment.ts"])
    const looked = [...read("src/environment/Environment.ts").matchAll(/"([A-Z][A-Z_]+)"/g)].map(([, name]) => name)
    const found = new Set(["CI", "SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"])
    const undocumented = looked.filter(
      (name = "") => !found.has(name) && !environmentTable.some((variable) => variable.name === name)
    )
    assert.deepStrictEqual(undocumented, [])
  })
})
