/**
 * The tables behind every `layerMemory`, so that one transaction covers them all.
 *
 * A transaction works on a draft of the whole state and swaps it in at its end, so it is atomic and isolated.
 * Writers are serialized, readers never wait. Rows are immutable values; a table hands
 * out what was put in. Nothing is persisted.
 */
import { Context, Effect, HashMap, Layer, Option, Semaphore } from "effect"

type Rows = HashMap.HashMap<string, unknown>
type State = HashMap.HashMap<string, Rows>

interface Draft {
  state: State
}

const CurrentDraft = Context.Reference<Draft | undefined>("@narthex/core/records/memory/CurrentDraft", {
  defaultValue: () => undefined
})

export interface Table<Row> {
  readonly get: (key: string) => Effect.Effect<Option.Option<Row>>
  readonly all: Effect.Effect<ReadonlyArray<Row>>
  readonly put: (key: string, row: Row) => Effect.Effect<void>
  readonly remove: (key: string) => Effect.Effect<void>
  /** One atomic step: reads the rows, answers a value, and puts or removes (`undefined`) rows. */
  readonly modify: <A>(
    step: (
      rows: ReadonlyArray<Row>
    ) => readonly [answer: A, changes: ReadonlyArray<readonly [key: string, row: Row | undefined]>]
  ) => Effect.Effect<A>
}

export class MemoryStorage extends Context.Service<
  MemoryStorage,
  {
    /** The table of this name; every caller of one name shares its rows. */
    readonly table: <Row>(name: string) => Table<Row>
    /**
     * Runs as one commit; inside another transaction, as a part of that one. A failure or interruption undoes
     * everything.
     */
    readonly transaction: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@narthex/core/records/memory/MemoryStorage") {
  static readonly layer: Layer.Layer<MemoryStorage> = Layer.sync(MemoryStorage, () => {
    const lock = Semaphore.makeUnsafe(1)
    const committed: Draft = { state: HashMap.empty() }

    const transaction = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(CurrentDraft, (outer) => {
        if (outer !== undefined) return work
        return lock.withPermits(1)(
          Effect.suspend(() => {
            const draft: Draft = { state: committed.state }
            return Effect.tap(Effect.provideService(work, CurrentDraft, draft), () =>
              Effect.sync(() => {
                committed.state = draft.state
              })
            )
          })
        )
      })

    const table = <Row>(name: string): Table<Row> => {
      // A table's rows are only ever put by the holders of its name, who agree on `Row`.
      const rowsOf = (state: State) =>
        Option.getOrElse(HashMap.get(state, name), () => HashMap.empty()) as HashMap.HashMap<string, Row>

      const read = <A>(answer: (rows: HashMap.HashMap<string, Row>) => A) =>
        Effect.withFiberSucceed((call) => answer(rowsOf((call.getRef(CurrentDraft) ?? committed).state)))

      const modify: Table<Row>["modify"] = (step) =>
        transaction(
          Effect.map(CurrentDraft, (draft) => {
            const holder = draft ?? committed
            const rows = rowsOf(holder.state)
            const [answer, changes] = step([...HashMap.values(rows)])
            const after = changes.reduce(
              (map, [key, row]) => (row === undefined ? HashMap.remove(map, key) : HashMap.set(map, key, row)),
              rows
            )
            holder.state = HashMap.set(holder.state, name, after)
            return answer
          })
        )

      const change = (edit: (rows: HashMap.HashMap<string, Row>) => HashMap.HashMap<string, Row>) =>
        transaction(
          Effect.map(CurrentDraft, (draft) => {
            const holder = draft ?? committed
            holder.state = HashMap.set(holder.state, name, edit(rowsOf(holder.state)))
          })
        )

      return {
        get: (key) => read((rows) => HashMap.get(rows, key)),
        all: read((rows) => [...HashMap.values(rows)]),
        put: (key, row) => change(HashMap.set(key, row)),
        remove: (key) => change(HashMap.remove(key)),
        modify
      }
    }

    return { table, transaction }
  })
}
