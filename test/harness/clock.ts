/**
 * Moves the clock of this process by `NARTHEX_TEST_CLOCK` days, and that of its children, which import this module too.
 * The machine's clock, and with it Postgres' and the browser's, stay: a test that compares the two shows here.
 *
 * Timers and `performance.now` go on as they are.
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
