/** The reference of the libraries is what their declarations say, and is read as Markdown. */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { root } from "../../scripts/packages/Manifest.ts"
import { readDeclarations } from "../../scripts/reference/declarations.ts"
import { publicModules } from "../../scripts/reference/publicModules.ts"
import { sortedUnions } from "../../scripts/reference/sortedUnions.ts"
import { generate } from "../../scripts/reference.ts"
import { packed } from "../harness/long.ts"
import { resource } from "../harness/resource.ts"

const folder = join(root, "docs/reference")

describe("reference", () => {
  it("a declaration file is read as its header, its declarations with docstrings, and what it passes on", () => {
    const read = readDeclarations(
      "sample.d.ts",
      [
        "/** What the module is. */",
        "/**",
        " * Adds.",
        " *",
        " * @example",
        " * add(1, 2)",
        " */",
        "export declare const add: (one: number, other: number) => number;",
        "type Hidden = string;",
        "/** Is it? */",
        "export interface Shown { readonly hidden: Hidden }",
        'export { a as b } from "./other.ts";',
        'export * from "./all.ts";',
        "export {};"
      ].join("\n")
    )
    assert.strictEqual(read.header, "What the module is.")
    assert.deepStrictEqual(
      read.declarations.map(({ doc, exported, name }) => ({ name, doc, exported })),
      [
        { name: "add", doc: "Adds.\n\n```ts\nadd(1, 2)\n```", exported: true },
        { name: "Hidden", doc: "", exported: false },
        { name: "Shown", doc: "Is it?", exported: true }
      ]
    )
    assert.deepStrictEqual(read.exports, [
      { from: "./other.ts", names: [["a", "b"]] },
      { from: "./all.ts", names: "all" }
    ])
  })

  it("a declaration without a docstring does not take the header of its module", () => {
    const { declarations, header } = readDeclarations(
      "sample.d.ts",
      "/** The module. */\nexport declare const one = 1;"
    )
    assert.deepStrictEqual({ header, doc: declarations[0]?.doc }, { header: "The module.", doc: "" })
  })

  it("an entry that declares what it makes public is a module of its own page", () => {
    const scratch = mkdtempSync(join(tmpdir(), "narthex-entry-"))
    try {
      writeFileSync(
        join(scratch, "own.d.ts"),
        'export { a } from "./other.ts";\n/** Simulates. */\nexport declare const simulate: () => void;'
      )
      writeFileSync(join(scratch, "other.d.ts"), "export declare const a = 1;\nexport declare const b = 2;")
      const shown = publicModules(scratch, "own.d.ts").map(({ members, path }) => [
        path,
        members.map(({ name }) => name)
      ])
      assert.deepStrictEqual(shown, [
        ["other", ["a"]],
        ["own", ["simulate"]]
      ])
    } finally {
      rmSync(scratch, { recursive: true })
    }
  })

  it("every entry of a library has names on its page", () => {
    const empty = globSync("**/*.md", { cwd: folder }).filter(
      (file) => !/^### /m.test(readFileSync(join(folder, file), "utf8"))
    )
    assert.deepStrictEqual(empty, ["README.md"])
  })

  it("the members of unions are in one order, whichever the compiler has chosen", () => {
    const text = (...members: ReadonlyArray<string>) => `export type A = ${members.join(" | ")};`
    const inner = ["B<2 | 1>", "B<1 | 2>"]
    for (const member of inner)
      for (const order of [
        [member, '"a"'],
        ['"a"', member]
      ])
        assert.strictEqual(sortedUnions("a.d.ts", text(...order)), text('"a"', "B<1 | 2>"))
    const written = 'export type A = "b" | /** The other. */ "a";'
    assert.strictEqual(sortedUnions("a.d.ts", written), written)
  })

  if (packed)
    it("docs/reference has the public types of this commit: npm run reference writes them", {
      timeout: 600_000
    }, async () => {
      await resource("libraries")
      const pages = generate()
      assert.isAbove(Object.keys(pages).length, 20)
      const committed = globSync("**/*.md", { cwd: folder }).sort()
      assert.deepStrictEqual(committed, Object.keys(pages).sort())
      for (const file of committed) assert.strictEqual(readFileSync(join(folder, file), "utf8"), pages[file], file)
    })
})
