/**
 * Templates: migrated empty databases that the tests of one run copy, because copying takes a tenth of the time of migrating.
 * Vitest calls `setup` once before all test files. It chooses the names; the first test file that needs a template creates it.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly databaseTemplates: DatabaseTemplates;
  }
}

/** Names of the templates, which are different in each test run. */
interface DatabaseTemplates {
  /** Folder of all files of the run; deleted at its end. */
  readonly folder: string;
  /** Path of the SQLite template. */
  readonly file: string;
  /** Name of the PostgreSQL template. The names of all PostgreSQL databases of the run begin with it. */
  readonly name: string;
}

/** Arbitrary number of the advisory lock under which one test file creates the PostgreSQL template. */
const templateLock = 6_127_354_022;

/** Chooses the names of the templates. @returns a function that deletes all databases and files of the run after all test files */
export function setup({ provide }: TestProject): () => Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-test-'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  provide('databaseTemplates', { folder, file: path.join(folder, 'database.sqlite'), name });
  return async () => {
    fs.rmSync(folder, { recursive: true });
    const { TEST_DATABASE_URL: serverUrl } = process.env;
    if (serverUrl) await withClient(serverUrl, (client) => dropDatabases(client, name));
  };
}

async function dropDatabases(client: pg.Client, prefix: string): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [prefix],
  );
  for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`);
}

/** Returns the content of the SQLite template; creates its file unless it exists. */
export async function readSqliteTemplate({ file }: DatabaseTemplates): Promise<Buffer> {
  if (fs.existsSync(file)) return fs.readFileSync(file);
  const unfinishedFile = `${file}.${process.pid}`;
  await (await openDatabase({ url: null, file: unfinishedFile })).destroy();
  const content = fs.readFileSync(unfinishedFile);
  // Bytes 18 and 19 are the file format versions; 1 means no write-ahead log, which a database in memory cannot have.
  // Source: sqlite.org/fileformat2.html, section 1.3.3
  content.fill(1, 18, 20);
  fs.writeFileSync(unfinishedFile, content);
  fs.renameSync(unfinishedFile, file);
  return content;
}

/** Creates the PostgreSQL template unless it exists, while other test files wait. */
export function createPostgresTemplate(serverUrl: string, { name }: DatabaseTemplates): Promise<void> {
  return withClient(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [templateLock]); // until the connection closes
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 1) return;
    const unfinishedName = `${name}_unfinished`;
    await client.query(`create database ${unfinishedName}`);
    const url = new URL(serverUrl);
    url.pathname = `/${unfinishedName}`;
    await (await openDatabase({ url: url.href, file: null })).destroy();
    await client.query(`alter database ${unfinishedName} rename to ${name}`);
  });
}

/** Runs work with a new connection, which is closed afterwards, so that its advisory locks end. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
