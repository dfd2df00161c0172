/** One turn of a benchmark of calls. */

/** Milliseconds of a turn. */
const turn = 40

/** Microseconds of CPU of a call, over one turn. */
export const turnOf = async (call: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  const end = performance.now() + turn
  let calls = 0
  for (; performance.now() < end; calls += 10) for (let at = 0; at < 10; at++) await call()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / calls
}
