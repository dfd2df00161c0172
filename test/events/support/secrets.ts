/** What the API processes sign with, for a test that signs like them. */
export const issuer = "http://api.test"
export const masterKey = Buffer.alloc(32, 7).toString("base64url")
