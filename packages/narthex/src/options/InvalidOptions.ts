/** The options do not make a control plane. The message says which one, and what it expects. */
export class InvalidOptions extends Error {
  override readonly name = "InvalidOptions"
  readonly code = "invalid_options"
}
