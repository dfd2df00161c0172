/**
 * Icons: line drawings on a grid of 16. They decorate a word or a labelled control, so screen readers skip them. How lines
 * are drawn is in the style sheet: a page has twenty icons, whose attributes were an eighth of its bytes.
 */
const paths = {
  layers: "M2 5l6-3 6 3-6 3zM2 8l6 3 6-3M2 11l6 3 6-3",
  activity: "M1 8h3l2-5 4 10 2-5h3",
  people:
    "M8.5 5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M1.5 14c0-3 2-4.5 4.5-4.5S10.5 11 10.5 14M11 3a2.5 2.5 0 0 1 0 4.5M12.5 9.8c1.4.6 2 2.2 2 4.2",
  person: "M11 5a3 3 0 1 1-6 0 3 3 0 0 1 6 0M2.5 14.5c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5",
  key: "M8 11a3 3 0 1 1-6 0 3 3 0 0 1 6 0M7.2 8.8l6-6M11 5l2 2",
  globe: "M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0M1.5 8h13M8 1.5c4 4 4 9 0 13M8 1.5c-4 4-4 9 0 13",
  grid: "M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z",
  branch:
    "M5.7 3.5a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0M5.7 12.5a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0M13.7 5.5a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0M4 5.2v5.6M12 7.2c0 2.5-4 2-7 3.6",
  server: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  spark: "M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M3.5 3.5l2 2M10.5 10.5l2 2M3.5 12.5l2-2M10.5 5.5l2-2",
  shield: "M8 1.5 2.5 4v4c0 3.5 2.3 5.5 5.5 6.5 3.2-1 5.5-3 5.5-6.5V4z",
  sliders:
    "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M12 4.5a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0M7 11.5a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0",
  search: "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0M10.5 10.5l3.5 3.5",
  chevrons: "M5 6l3-3 3 3M5 10l3 3 3-3",
  chevron: "M4.5 6.5 8 10l3.5-3.5",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  plus: "M8 3v10M3 8h10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5l3.5 3.5L13 4.5",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12h.01",
  info: "M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0M8 7.5V11M8 5h.01",
  sun: "M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  screen: "M2 3h12v8H2zM6 14h4M8 11v3",
  menu: "M2 4h12M2 8h12M2 12h12",
  terminal: "M1.5 2.5h13v11h-13zM4 6l2 2-2 2M8 10.5h3.5",
  mail: "M1.5 3.5h13v9h-13zM1.5 4.5 8 9l6.5-4.5",
  book: "M8 3.5C6.5 2.5 4 2.5 2 3v10c2-.5 4.5-.5 6 .5 1.5-1 4-1 6-.5V3c-2-.5-4.5-.5-6 .5zM8 3.5v10",
  leave: "M6 2.5H2.5v11H6M10 5l3 3-3 3M13 8H6"
} as const

export type IconName = keyof typeof paths

/** All names, for the page of components. */
export const iconNames = Object.keys(paths) as ReadonlyArray<IconName> // the keys of a constant

export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg class={name === "more" ? "icon dots" : "icon"} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
