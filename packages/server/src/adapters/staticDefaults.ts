/**
 * Default privileges of the roles that create objects on a server of the operator, as SQL: new relations are readable, and
 * new functions executable by writers alone. Local computes have an event trigger for that, which needs a superuser.
 */
import { readers, writers } from "@narthex/compute-roles"

/** The group, and its members after `RESET ROLE`. An admin without SUPERUSER is a member of the groups that it made. */
const creators = `
  SELECT '${writers}'::regrole::oid AS role
  UNION ALL SELECT member FROM pg_auth_members JOIN pg_roles r ON r.oid = member
  WHERE roleid = '${writers}'::regrole AND rolname <> current_user AND NOT rolsuper`

/** The statements that give those that are missing: rows of `objid` and `statement`. */
export const missingDefaults = `
  SELECT 0::oid AS objid,
    format('ALTER DEFAULT PRIVILEGES FOR ROLE %s REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', role::regrole) AS statement
  FROM (${creators}) creators
  WHERE NOT EXISTS (
    SELECT FROM pg_default_acl WHERE defaclrole = role AND defaclnamespace = 0 AND defaclobjtype = 'f'
      AND NOT EXISTS (SELECT FROM aclexplode(defaclacl) WHERE grantee = 0))
  UNION ALL
  SELECT 0::oid, format('ALTER DEFAULT PRIVILEGES FOR ROLE %s GRANT %s TO %s', role::regrole, given, receiver)
  FROM (${creators}) creators,
    (VALUES ('r', 'SELECT ON TABLES', '${readers}'), ('S', 'SELECT ON SEQUENCES', '${readers}'),
      ('n', 'USAGE ON SCHEMAS', '${readers}'), ('f', 'EXECUTE ON FUNCTIONS', '${writers}')) kinds (kind, given, receiver)
  WHERE NOT EXISTS (
    SELECT FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = role AND defaclnamespace = 0 AND defaclobjtype = kind::"char"
      AND grantee = receiver::regrole AND privilege_type = split_part(given, ' ', 1))`
