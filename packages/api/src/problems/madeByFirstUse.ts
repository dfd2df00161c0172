/**
 * A class that is made by its first use: when it is constructed, or when a static member of it is read. Classes can extend it
 * before, so a module can declare many and pay for those that a program meets.
 *
 * Pitfall: making it in order to be extended. A declaration with `extends` reads the prototype, which is that of a
 * stand-in until the class is made, and inherits from the class's own from then on.
 */
export const madeByFirstUse = <Class extends object>(make: () => Class): Class => {
  class StandIn {}
  let made: Class | undefined
  const used = (): Class => {
    if (made === undefined) {
      made = make()
      // Each class has a prototype.
      const { prototype } = made as Class & { readonly prototype: object }
      Object.setPrototypeOf(StandIn.prototype, prototype)
    }
    return made
  }
  const handler: ProxyHandler<typeof StandIn> = {
    get: (_, key, receiver) => (key === "prototype" ? StandIn.prototype : Reflect.get(used(), key, receiver)),
    has: (_, key) => Reflect.has(used(), key),
    // What is constructed is a class, and the arguments are those of its constructor.
    construct: (_, given, target) => Reflect.construct(used() as unknown as new () => object, given, target)
  }
  // It has the members of the class, and the prototype of the stand-in.
  return new Proxy(StandIn, handler) as unknown as Class
}
