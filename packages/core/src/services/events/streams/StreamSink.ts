/** Port: the connection that a stream's bytes are written to. */

export interface StreamSink {
  /**
   * Always accepts the bytes, which other streams share: a sink never changes them. `false`: the buffer is full, and the
   * caller waits for `onDrain` before the next write.
   */
  readonly write: (bytes: Uint8Array) => boolean
  /** No more writes: sends what was accepted, then closes. */
  readonly end: () => void
  /** Closes at once. */
  readonly destroy: () => void
  /** Calls back each time that there is room again. Never from within `write`. */
  readonly onDrain: (callback: () => void) => void
  /** Calls back once when the connection is gone, whichever side closed it. Never from within a call of the broker. */
  readonly onClose: (callback: () => void) => void
}
