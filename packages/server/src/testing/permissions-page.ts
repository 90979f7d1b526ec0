/** The tables of docs/permissions.md, written from the data that the permission tests use. */
import { type Endpoint, endpoints, permissions, permissionsOf, Role, Status } from '@lamina/contract';
import {
  actors,
  answerFor,
  answers,
  catalogueBySession,
  pixelsBySession,
  type Session,
  sessions,
  tokensAlong,
} from './permission-matrix.ts';
import { outcomeOf, standings, stateCalls } from './state-table.ts';

type Row = readonly string[];

function tableOf(header: Row, rows: readonly Row[]): string {
  const lineOf = (cells: Row) => `| ${cells.join(' | ')} |`;
  return [lineOf(header), `|${'---|'.repeat(header.length)}`, ...rows.map(lineOf)].join('\n');
}

/** A column for each status that blocks, then for each role of an active account. */
function permissionTable(): string {
  const blocked = Status.options.filter((status) => status !== 'active');
  const roles = [...Role.options].reverse();
  const columns = [
    ...blocked.map((status) => ({ status, role: 'admin' as const })),
    ...roles.map((role) => ({ status: 'active' as const, role })),
  ];
  return tableOf(
    ['Permission', ...blocked, ...roles],
    permissions.map((permission) => [
      `\`${permission}\``,
      ...columns.map((account) => (permissionsOf(account).includes(permission) ? '✔' : '–')),
    ]),
  );
}

function routeTable(): string {
  return tableOf(
    ['Route', ...actors, 'API token'],
    Object.keys(answers).map((name) => {
      const { method, path, scope, access } = endpoints[name] as Endpoint;
      const byToken = access === 'anyone' ? 'ignored' : scope === undefined ? '403' : `\`${scope}\``;
      return [`${method} ${path}`, ...actors.map((actor) => String(answerFor(name, actor))), byToken];
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
  const tested = sessions.filter((session): session is Exclude<Session, "another account's"> => {
    return session in pixelsBySession;
  });
  return tableOf(
    ['Session', ...tokensAlong],
    tested.map((session) => [session, ...tokensAlong.map((token) => pixelsBySession[session][token])]),
  );
}

/** Converts an entry of the state table to text: `!` ends earlier tokens and sessions; `=` and `*` keep status and role. */
function wordsOf(outcome: string): string {
  const state = outcome.replace('!', '').replace('=', 'no change').replace('*', 'password replaced');
  return outcome.endsWith('!') ? `${state}, ends all` : state;
}

function stateTable(): string {
  const calls = Object.keys(stateCalls);
  return tableOf(
    ['Before', ...calls],
    standings.map((standing) => [standing, ...calls.map((call) => wordsOf(outcomeOf(call, standing)))]),
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
 * Replaces every generated table of the page.
 *
 * @param page current text of docs/permissions.md
 * @throws Error when a mark names a table that does not exist
 */
export function permissionsPage(page: string): string {
  return page.replace(/<!-- generated:(\w+) -->\n[\s\S]*?<!-- \/generated -->/g, (_, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`docs/permissions.md asks for an unknown table: ${name}`);
    return `<!-- generated:${name} -->\n${table()}\n<!-- /generated -->`;
  });
}
