/** How a state is coloured. The word beside the colour says the same. */
export type Tone = "good" | "busy" | "bad" | "idle"
