/**
 * Functions that a writer leaves where Postgres calls them without asking whether the caller may execute them, as data.
 * `kept` and `counter` exist.
 */
export interface PlantedCall {
  readonly way: string
  readonly statements: ReadonlyArray<string>
  /** The statements that a reader runs later, in one session. */
  readonly calls: ReadonlyArray<string>
}

const insert = "INSERT INTO public.kept VALUES (666)"

const writer = (signature: string, result: string, value: string) =>
  `CREATE FUNCTION ${signature} RETURNS ${result} LANGUAGE sql SECURITY DEFINER AS '${insert} RETURNING ${value}'`

/** An immutable function, as Postgres demands it in some places, which calls one that writes. */
const immutableWriter = (name: string, args: string, result: string, value: string) => [
  writer(`${name}_write()`, "int", "1"),
  `CREATE FUNCTION ${name}(${args}) RETURNS ${result} LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS
    'BEGIN PERFORM public.${name}_write(); RETURN ${value}; END'`
]

export const plantedCalls: ReadonlyArray<PlantedCall> = [
  {
    way: "leaves an aggregate whose transition function writes",
    statements: [
      writer("planted_transition(int, int)", "int", "1"),
      "CREATE AGGREGATE evil_transition(int) (SFUNC = planted_transition, STYPE = int, INITCOND = '0')"
    ],
    calls: ["SELECT evil_transition(1)"]
  },
  {
    way: "leaves an aggregate whose final function writes",
    statements: [
      writer("planted_final(int)", "int", "1"),
      "CREATE AGGREGATE evil_final(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0', FINALFUNC = planted_final)"
    ],
    calls: ["SELECT evil_final(1)"]
  },
  {
    way: "leaves an aggregate whose combining function writes",
    statements: [
      "CREATE TABLE parts (n int) PARTITION BY RANGE (n)",
      "CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (50)",
      "CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (50) TO (101)",
      "INSERT INTO parts SELECT n FROM generate_series(1, 100) n",
      writer("planted_combine(int, int)", "int", "1"),
      `CREATE AGGREGATE evil_combine(int)
        (SFUNC = int4pl, STYPE = int, INITCOND = '0', COMBINEFUNC = planted_combine)`
    ],
    calls: ["SET enable_partitionwise_aggregate = on", "SELECT evil_combine(n) FROM parts"]
  },
  {
    way: "leaves a moving aggregate that writes",
    statements: [
      writer("planted_moving(int, int)", "int", "1"),
      `CREATE AGGREGATE evil_moving(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0',
        MSFUNC = planted_moving, MINVFUNC = planted_moving, MSTYPE = int, MINITCOND = '0')`
    ],
    calls: [
      "SELECT evil_moving(n) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM generate_series(1, 3) n"
    ]
  },
  {
    way: "leaves a range type whose difference writes when it is estimated",
    statements: [
      ...immutableWriter("planted_difference", "a float8, b float8", "float8", "a - b"),
      "CREATE TYPE evil_range AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = planted_difference)",
      "CREATE TABLE ranges AS SELECT evil_range(n, n + 1) AS x FROM generate_series(1, 300) n",
      "ANALYZE ranges"
    ],
    calls: ["EXPLAIN SELECT FROM ranges WHERE x && evil_range(3.5, 7.5)"]
  },
  {
    way: "leaves an operator whose negator writes when it is estimated",
    statements: [
      writer("planted_equal(int, int)", "bool", "true"),
      "CREATE FUNCTION harmless(int, int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN true; END'",
      "CREATE OPERATOR === (FUNCTION = planted_equal, LEFTARG = int, RIGHTARG = int)",
      `CREATE OPERATOR !== (FUNCTION = harmless, LEFTARG = int, RIGHTARG = int, NEGATOR = ===,
        RESTRICT = neqsel, JOIN = neqjoinsel)`,
      "CREATE TABLE common AS SELECT n % 3 AS n FROM generate_series(1, 300) n",
      "ANALYZE common"
    ],
    calls: ["EXPLAIN SELECT FROM common WHERE n !== 1"]
  },
  {
    way: "leaves a cast to json that writes",
    statements: [
      "CREATE TYPE mood AS ENUM ('good')",
      writer("planted_json(mood)", "json", "to_json(n)"),
      "CREATE CAST (mood AS json) WITH FUNCTION planted_json(mood)"
    ],
    calls: ["SELECT to_json('good'::mood)"]
  },
  {
    way: "leaves an aggregate of a function that writes large objects",
    statements: ["CREATE AGGREGATE evil_object(bytea) (SFUNC = lo_from_bytea, STYPE = oid, INITCOND = '0')"],
    calls: ["SELECT evil_object('x')"]
  }
]
