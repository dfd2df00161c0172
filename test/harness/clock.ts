/**
 * Moves the clock of this process by `NARTHEX_TEST_CLOCK` days, and those of its children, which import this module
 * too. The clocks of the machine, Postgres and the browser do not move, so code that compares the two kinds of clocks
 * fails.
 *
 * Timers and `performance.now` do not change.
 */
const days = Number(process.env["NARTHEX_TEST_CLOCK"] ?? "0")
const installed = Symbol.for("narthex/test/clock")

if (days !== 0 && !(installed in globalThis)) {
  Object.defineProperty(globalThis, installed, { value: days })
  const Machine = Date
  const now = () => Machine.now() + days * 86_400_000
  globalThis.Date = new Proxy(Machine, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    apply: () => new Machine(now()).toString(),
    get: (target, name, self) => (name === "now" ? now : Reflect.get(target, name, self))
  })
  const option = `--import=${import.meta.filename}`
  const before = process.env["NODE_OPTIONS"] ?? ""
  if (!before.includes(option)) process.env["NODE_OPTIONS"] = `${before} ${option}`.trim()
}
