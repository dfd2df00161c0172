/** The advisory lock that each step of a compute takes, shared, before it ends. */
export const stepLock = 7_001
