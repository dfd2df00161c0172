/** Text without the byte order mark that editors on Windows put before it, which JSON refuses. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, "")
