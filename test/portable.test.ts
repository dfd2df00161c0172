/** The modules that `narthex` loads in memory run on every runtime of the Fetch standard. */
import { readFileSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const root = resolve(import.meta.dirname, "..")
const read = (file: string) => readFileSync(resolve(root, file), "utf8")

const roots: Record<string, string> = {
  "@narthex/core": "packages/core/src/index.ts",
  "@narthex/api": "packages/api/src/index.ts",
  "@narthex/http/web": "packages/http/src/web.ts"
}

const statically = /^(?:import|export)\s[\w*{}\s,$]*?from\s*"([^"]+)"|^import\s*"([^"]+)"/gm

/** The imports of a module when it is loaded: no types, and nothing that it imports later. */
const imports = (source: string) =>
  [...source.matchAll(statically)]
    .filter(([statement]) => !/^(?:import|export) type /.test(statement))
    .map((found) => found[1] ?? found[2] ?? "")

describe("modules for every runtime", () => {
  it("the library in memory loads nothing of Node and no driver, also not through other packages", () => {
    const reached = new Set<string>()
    const open = ["packages/narthex/src/index.ts"]
    const wrong: Array<string> = []
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (reached.has(file)) continue
      reached.add(file)
      const source = read(file)
      for (const specifier of imports(source)) {
        if (specifier.startsWith(".")) open.push(relative(root, resolve(root, dirname(file), specifier)))
        else if (roots[specifier] !== undefined) open.push(roots[specifier])
        else if (/^node:|^@effect\/|^@narthex\//.test(specifier)) wrong.push(`${file} imports ${specifier}`)
      }
      if (/\bBuffer\.|\bprocess\./.test(source.replace(/\/\*[\s\S]*?\*\//g, "")))
        wrong.push(`${file} uses a global of Node`)
    }
    assert.isAbove(reached.size, 200)
    assert.deepStrictEqual(wrong, [])
  })
})
