-- Marks that say that an agent's work ended.
--
-- The list of kinds of marks is longer from here on; the step with re-injections says how that is done.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''shown'')', 'OR kind = ''shown'' OR kind = ''settled'')')
WHERE type = 'table' AND name = 'mark';
PRAGMA writable_schema = RESET;
