/** Events and operations, newest first: sentences with names, duration and time. */
import type { DateTime } from "effect"
import { Ago } from "../components/Times.tsx"
import { type Part, type Sentence, tookWords } from "./eventWords.ts"

export interface FeedItem {
  readonly key: string
  readonly sentence: Sentence
  readonly at: DateTime.Utc
  /** Milliseconds; `null`: not over, or not known. */
  readonly took: number | null
}

export interface FeedProps {
  readonly items: ReadonlyArray<FeedItem>
  /** The id of the feed, for a live region. */
  readonly id: string
}

/** A sentence. A name is isolated, so that one in a script from right to left does not reorder the words around it. */
export const Parts = ({ parts }: { readonly parts: ReadonlyArray<Part> }) => (
  <>
    {parts.map((part, index) =>
      typeof part === "string" ? (
        part
      ) : (
        <b key={index}>
          <bdi>{part.name}</bdi>
        </b>
      )
    )}
  </>
)

export const Feed = ({ id, items }: FeedProps) => (
  <ol class="feed" id={id}>
    {items.map(({ at, key, sentence, took }) => (
      <li key={key}>
        <span class={`dot ${sentence.tone}`} aria-hidden="true" />
        <span class="grow">
          <Parts parts={sentence.parts} />
          {took === null ? null : <span class="soft">, {tookWords(took)}</span>}
          {sentence.error === null ? null : <span class="why">{sentence.error}</span>}
        </span>
        <Ago at={at} />
      </li>
    ))}
  </ol>
)
