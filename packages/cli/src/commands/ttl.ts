/** How long something lives, as people write it: `90`, `30m`, `8h`, `7d`, `2w`. A bare number is seconds. */
import { Option } from "effect"

const seconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

const tenYears = 315_360_000

export const parseTtl = (text: string): Option.Option<number> => {
  const [, count, unit] = /^([1-9]\d{0,8})([smhdw]?)$/.exec(text) ?? []
  const total = Number(count) * (seconds[unit ?? ""] ?? Number.NaN)
  return total <= tenYears ? Option.some(total) : Option.none()
}
