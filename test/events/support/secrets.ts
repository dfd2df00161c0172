/** The secrets with which the API processes sign, for a test that signs tokens too. */
export const issuer = "http://api.test"
export const masterKey = Buffer.alloc(32, 7).toString("base64url")
