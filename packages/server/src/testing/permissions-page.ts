/** Writes the tables of docs/permissions.md from the data that the permission tests use. */
import { type Endpoint, endpoints, permissions, permissionsOf, Role, Status } from '@lamina/contract';
import {
  actors,
  additionalTokens,
  catalogueBySession,
  expectedStatus,
  expectedStatuses,
  pixelsBySession,
  type Session,
  sessions,
} from './permission-matrix.ts';
import { accountCalls, accountStates, outcomeOf } from './state-table.ts';

type Row = readonly string[];

function tableOf(header: Row, rows: readonly Row[]): string {
  const lineOf = (cells: Row) => `| ${cells.join(' | ')} |`;
  return [lineOf(header), `|${'---|'.repeat(header.length)}`, ...rows.map(lineOf)].join('\n');
}

/** Returns the table with one column for each status that blocks an account, and then one for each role of an active account. */
function permissionTable(): string {
  const blockingStatuses = Status.options.filter((status) => status !== 'active');
  const roles = [...Role.options].reverse(); // from the fewest permissions to the most
  const columns = [
    ...blockingStatuses.map((status) => ({ status, role: 'admin' as const })), // the role makes no difference
    ...roles.map((role) => ({ status: 'active' as const, role })),
  ];
  return tableOf(
    ['Permission', ...blockingStatuses, ...roles],
    permissions.map((permission) => [
      `\`${permission}\``,
      ...columns.map((account) => (permissionsOf(account).includes(permission) ? '✔' : '–')),
    ]),
  );
}

function routeTable(): string {
  return tableOf(
    ['Route', ...actors, 'API token'],
    Object.keys(expectedStatuses).map((name) => {
      const { method, path, apiTokenScope, access } = endpoints[name] as Endpoint;
      // Endpoints for anyone ignore an API token. All others reject it, unless they name a scope that it must have.
      const tokenCell =
        access === 'anyone' ? 'ignored' : apiTokenScope === undefined ? '403' : `\`${apiTokenScope}\``;
      return [`${method} ${path}`, ...actors.map((actor) => String(expectedStatus(name, actor))), tokenCell];
    }),
  );
}

function catalogueTable(): string {
  return tableOf(
    ['Session', 'Answer'],
    sessions.map((session) => [session, catalogueBySession[session]]),
  );
}

function pixelTable(): string {
  // The table has no row for the session of another account: for pixels, any valid session counts as `own`.
  const rows = sessions.filter((session): session is Exclude<Session, "another account's"> => {
    return session in pixelsBySession;
  });
  return tableOf(
    ['Session', ...additionalTokens],
    rows.map((session) => [session, ...additionalTokens.map((token) => pixelsBySession[session][token])]),
  );
}

/** Converts an outcome of the state table (state-table.ts) to text, for example `suspended:user!` to `suspended:user, ends all`. */
function textOfOutcome(outcome: string): string {
  const state = outcome.replace('!', '').replace('=', 'no change').replace('*', 'password replaced');
  return outcome.endsWith('!') ? `${state}, ends all` : state;
}

function stateTable(): string {
  const calls = Object.keys(accountCalls);
  return tableOf(
    ['Before', ...calls],
    accountStates.map((state) => [state, ...calls.map((call) => textOfOutcome(outcomeOf(call, state)))]),
  );
}

const tables: Readonly<Record<string, () => string>> = {
  permissions: permissionTable,
  routes: routeTable,
  catalogue: catalogueTable,
  pixels: pixelTable,
  states: stateTable,
};

/**
 * Returns the page with every generated table replaced by its current version.
 *
 * @param page current text of docs/permissions.md
 * @throws Error when the comment before a table names a table that does not exist
 */
export function permissionsPage(page: string): string {
  return page.replace(/<!-- generated:(\w+) -->\n[\s\S]*?<!-- \/generated -->/g, (_, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`docs/permissions.md asks for an unknown table: ${name}`);
    return `<!-- generated:${name} -->\n${table()}\n<!-- /generated -->`;
  });
}
