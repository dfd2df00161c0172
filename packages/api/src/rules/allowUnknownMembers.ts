/**
 * Corrects the OpenAPI document about unknown members: answers may gain members, and bodies may have unknown members
 * unless the endpoint refuses them. Effect's generator writes `additionalProperties: false` for every object.
 */
type Json = Record<string, unknown>

const mark = "x-narthex-strict-body"

/** Marks an operation whose body refuses unknown members. */
export const markStrict = (operation: Json): Json => ({ ...operation, [mark]: true })

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !(key === "additionalProperties" && member === false))
      .map(([key, member]) => [key, opened(member)])
  )
}

const openedOperation = (operation: unknown): unknown => {
  if (!isObject(operation)) return operation
  const { [mark]: strict, requestBody, ...rest } = operation
  const body = requestBody === undefined ? {} : { requestBody: strict === true ? requestBody : opened(requestBody) }
  return { ...(opened(rest) as Json), ...body } // an object opens to an object
}

/** The document in which every object but a strict body allows unknown members. */
export const allowUnknownMembers = (document: Json): Json => ({
  ...document,
  components: opened(document["components"]),
  paths: Object.fromEntries(
    Object.entries(isObject(document["paths"]) ? document["paths"] : {}).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(isObject(item) ? item : {}).map(([method, operation]) => [method, openedOperation(operation)])
      )
    ])
  )
})
