/** The rule of docs/contributing/style.md for sentences: the first words name the thing. */
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { beginsWithoutNoun, commentsOf, pageSentencesOf, type Sentence, testNamesOf } from "./support/sentences.ts"

const root = resolve(import.meta.dirname, "..")

const without = (pattern: string, sentencesOf: (source: string) => ReadonlyArray<Sentence>) =>
  globSync(pattern, { cwd: root })
    .filter((file) => !/(^|\/)(node_modules|dist|test-results|reference)\//.test(file))
    .sort()
    .flatMap((file) =>
      sentencesOf(readFileSync(resolve(root, file), "utf8"))
        .filter(beginsWithoutNoun)
        .map(({ line, text }) => `${file}:${line} ${text.slice(0, 100)}`)
    )

describe("the first words of a sentence", () => {
  it("name the thing in the names of tests", () => {
    assert.deepStrictEqual(without("{packages,test,examples,bench}/**/*.{ts,tsx}", testNamesOf), [])
  })

  it("name the thing in comments", () => {
    assert.deepStrictEqual(without("{packages,test,scripts,examples,bench}/**/*.{ts,tsx}", commentsOf), [])
  })

  it("name the thing in the documentation", () => {
    assert.deepStrictEqual(without("{*.md,{docs,packages,examples,bench,deploy}/**/*.md}", pageSentencesOf), [])
  })

  it("may be a question word, and in a label any word", () => {
    const is = (text: string) => beginsWithoutNoun({ line: 1, text, first: true })
    assert.isTrue(is("What a page shows stands here."))
    assert.isTrue(is("Of several keys the first counts."))
    assert.isTrue(is("One that has ended is refused."))
    assert.isFalse(is("One key is refused."))
    assert.isFalse(is("What does a key permit?"))
    assert.isFalse(is("What it costs"))
    assert.isFalse(is("A key permits what its scope says."))
  })

  it("may be a pronoun where the sentence before has its noun", () => {
    const [first, second] = commentsOf("/** It reads the log. It never writes. */")
    assert.isTrue(first !== undefined && beginsWithoutNoun(first))
    assert.isTrue(second !== undefined && !beginsWithoutNoun(second))
  })
})
