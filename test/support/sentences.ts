/** Sentences of comments, of pages and of the names of tests, with the place of each. */

export interface Sentence {
  readonly line: number
  readonly text: string
  /** Whether no other sentence of its paragraph is before it. */
  readonly first: boolean
}

/** The end of a sentence: a full stop before a capital letter, or the label of a trap. */
const ends = /(?<=[.!?]["')*_]*)\s+(?=["'(*_]*[A-Z])|(?<=\bPitfall:)\s+/

const sentencesIn = (text: string, line: number): ReadonlyArray<Sentence> =>
  text
    .replace(/\s+/g, " ")
    .trim()
    .split(ends)
    .map((sentence, index) => ({ line, text: sentence.trim(), first: index === 0 }))
    .filter(({ text }) => text !== "")

const lineAt = (source: string, index: number) => source.slice(0, index).split("\n").length

/** Sentences of block comments and of runs of line comments, without the programs in them. */
export const commentsOf = (source: string): ReadonlyArray<Sentence> =>
  [...source.matchAll(/(?<=^|\s)\/\*\*?(?=\s)([\s\S]*?)\*\/|(?:^[ \t]*\/\/[^\n]*\n)+/gm)].flatMap((found) => {
    const text = (found[1] ?? found[0])
      .replace(/^[ \t]*(?:\*|\/\/)[ \t]?/gm, "")
      .replace(/```[\s\S]*?```|@example[\s\S]*/g, "")
    return text
      .split(/\n\s*\n|\n(?=[-*@]|\d+\. )/)
      .flatMap((part) => sentencesIn(part.replace(/^[-*\d. ]+/, ""), lineAt(source, found.index)))
  })

/** Names of tests and of their groups. A name is one sentence. */
export const testNamesOf = (source: string): ReadonlyArray<Sentence> =>
  [...source.matchAll(/\b(?:it|describe|test)(?:\.\w+)*\(\s*(["`])((?:(?!\1)[^\\]|\\.)+)\1/g)].map((found) => ({
    line: lineAt(source, found.index),
    text: found[2] ?? "",
    first: true
  }))

/** Paragraphs and items of a page in Markdown. Headings, cells of tables and blocks of code are labels. */
export const pageSentencesOf = (source: string): ReadonlyArray<Sentence> => {
  const blank = (block: string) => block.replace(/[^\n]/g, "")
  const text = source.replace(/```[\s\S]*?```|^---\n[\s\S]*?\n---\n/g, blank)
  let line = 1
  return text.split(/(?<=\n)(?=\s*\n|\s*[-*|#>]|\s*\d+\. )/).flatMap((part) => {
    const at = line
    line += part.split("\n").length - 1
    return /^\s*[|#]/.test(part)
      ? []
      : sentencesIn(part.replace(/^[\s\-*>]*(?:\d+\. )?(?:\*\*[A-Z]+\d+\.\*\* )?/, ""), at)
  })
}

const start = `^["'(*_]*`
const one = "one(?= (?:that|which|who|whose|of|is|are|may|can|must|has|had|with|without|from|in|at|more|less)\\b)"

/** Words that stand in place of a noun that the reader has to find. */
const nounless = new RegExp(`${start}(?:${one}|ones|those|that|what|whatever|who|whoever|whose|of|none|others)\\b`, "i")

/** A pronoun has its noun in the sentence before. */
const pronoun = new RegExp(`${start}(?:it|its|they|their|them|he|she|this|these|both|such)\\b`, "i")

/** Whether the first word stands in place of a noun. A question may begin with such a word, and a label of three words. */
export const beginsWithoutNoun = ({ first, text }: Sentence): boolean =>
  (nounless.test(text) || (first && pronoun.test(text))) && !/\?["')*_]*$/.test(text) && text.split(" ").length > 3
