/**
 * The land of the world as a grid of dots, computed once from coarse outlines of our own. Equirectangular: a degree is
 * a unit, the date line is at both edges, and the polar regions are left out.
 */
type Point = readonly [longitude: number, latitude: number]

/** `longitude latitude` pairs, in degrees. */
const outline = (text: string): ReadonlyArray<Point> =>
  text.split(",").map((pair) => {
    const [longitude = 0, latitude = 0] = pair.trim().split(" ").map(Number)
    return [longitude, latitude]
  })

const outlines = [
  // North and Central America, the Canadian Arctic, Greenland
  "-168 66,-156 71,-128 70,-110 68,-95 72,-82 68,-94 60,-92 57,-82 53,-79 52,-78 58,-72 61,-64 58,-56 52,-60 46,-66 44,-70 42,-75 38,-76 35,-81 31,-80 25,-83 29,-90 29,-97 27,-97 21,-91 18,-87 21,-88 16,-83 15,-83 10,-78 9,-83 8,-92 14,-105 20,-112 29,-117 33,-124 40,-124 48,-133 56,-150 60,-160 55,-165 61",
  "-122 75,-95 80,-75 83,-62 82,-80 74,-62 66,-68 62,-78 65,-86 70,-115 69",
  "-73 78,-55 82,-30 83,-20 76,-22 70,-42 60,-52 66,-56 74",
  "-85 22,-75 21,-74 18,-68 19,-74 20",
  // South America
  "-78 8,-72 12,-62 10,-52 5,-50 0,-44 -3,-35 -6,-39 -15,-41 -22,-48 -26,-54 -34,-58 -38,-65 -42,-66 -50,-69 -55,-74 -50,-73 -40,-71 -30,-70 -18,-76 -14,-81 -5,-80 1",
  // Europe and Asia
  "-9 37,-9 43,-1 44,-4 48,3 51,8 54,9 57,11 55,19 54,22 57,28 60,22 60,21 63,25 65,18 62,17 57,13 55,11 59,5 59,5 62,14 68,25 71,40 67,45 68,60 69,70 73,80 73,100 77,113 74,130 71,160 70,180 69,180 65,177 62,163 60,162 55,157 51,155 59,142 59,135 54,141 50,135 44,130 42,129 36,126 35,125 39,121 39,122 37,119 35,122 31,118 24,110 21,106 19,109 12,105 9,100 13,102 6,105 1,102 1,98 9,98 16,94 16,90 22,86 20,80 15,80 10,77 8,73 17,72 21,67 24,58 25,56 27,51 29,48 30,51 25,56 26,59 22,55 17,44 13,39 21,35 28,34 31,36 36,28 37,27 40,23 40,23 37,20 40,14 45,18 40,16 38,11 43,8 44,3 43,-1 38,-5 36",
  "-5 50,1 51,0 53,-3 56,-2 58,-5 58,-5 55,-3 53",
  "-10 52,-6 52,-6 55,-10 54",
  "-24 65,-18 66,-14 65,-19 63",
  "52 71,60 76,68 77,58 72",
  "130 32,136 34,141 36,142 43,145 44,140 45,139 38,132 35",
  "95 5,106 -6,104 -3",
  "105 -7,114 -9,114 -7",
  "109 1,117 7,119 1,114 -4,110 -3",
  "119 -3,121 1,125 1,122 -5",
  "120 18,122 18,126 7,122 10",
  // Africa, Madagascar
  "-17 15,-17 21,-10 30,-6 36,10 37,11 33,20 31,33 31,37 21,43 12,51 12,48 5,40 -4,40 -15,35 -24,32 -29,27 -34,19 -34,12 -18,13 -6,9 3,5 5,-8 4,-13 9",
  "44 -17,50 -15,47 -25,44 -23",
  // Australia, New Guinea, New Zealand
  "114 -22,122 -18,130 -12,136 -12,136 -16,140 -17,142 -11,146 -19,153 -27,150 -37,140 -38,131 -32,124 -33,115 -34",
  "131 -1,141 -3,150 -10,138 -8",
  "173 -35,178 -38,174 -42,167 -46,172 -41"
].map(outline)

/** Even-odd: how many edges are to the right of the point. */
const isInside = (longitude: number, latitude: number, corners: ReadonlyArray<Point>): boolean =>
  corners.reduce((inside, [x1, y1], index) => {
    const [x2, y2] = corners.at(index - 1) ?? [x1, y1]
    const crosses = y1 > latitude !== y2 > latitude
    return crosses && longitude < ((x2 - x1) * (latitude - y1)) / (y2 - y1) + x1 ? !inside : inside
  }, false)

const northmost = 84
const southmost = -58
/** Degrees between two dots. */
const step = 3

/** The size of the map in its own units. */
export const mapSize = { width: 360, height: northmost - southmost } as const

/** Where a place is on the map, in the map's units. */
export const onMap = (longitude: number, latitude: number) => ({
  x: Math.round((longitude + 180) * 10) / 10,
  y: Math.round((northmost - latitude) * 10) / 10
})

const rows = Array.from(
  { length: Math.floor((northmost - southmost) / step) },
  (_, row) => northmost - step * (row + 0.5)
)
const columns = Array.from({ length: 360 / step }, (_, column) => step * (column + 0.5) - 180)

const drawn = (): string =>
  rows
    .map((latitude) => {
      const dots = columns.filter((longitude) => outlines.some((corners) => isInside(longitude, latitude, corners)))
      const { y } = onMap(0, latitude)
      return dots
        .map((longitude, index) => {
          const before = dots[index - 1]
          return before === undefined ? `M${longitude + 180} ${y}h0` : `m${longitude - before} 0h0`
        })
        .join("")
    })
    .join("")

let path: string | undefined

/** One path of dots: a line of length 0 with round ends for each. It is drawn once, for the first page that shows it. */
export const landPath = (): string => {
  path ??= drawn()
  return path
}
