/**
 * Takes the place of `Intl.Segmenter` in the bundle. Three modules make one when they are loaded, which reads the rules
 * of Unicode; it is needed for text outside ASCII only, so this one is made by the first call.
 */
const { Intl: original } = globalThis

export class DeferredSegmenter {
  readonly #arguments: ConstructorParameters<typeof Intl.Segmenter>
  #made: Intl.Segmenter | undefined

  constructor(...given: ConstructorParameters<typeof Intl.Segmenter>) {
    this.#arguments = given
  }

  segment(text: string): Intl.Segments {
    this.#made ??= new original.Segmenter(...this.#arguments)
    return this.#made.segment(text)
  }
}
