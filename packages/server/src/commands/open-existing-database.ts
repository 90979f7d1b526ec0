import fs from 'node:fs';
import path from 'node:path';
import { type Config, ConfigError } from '../platform/config.ts';
import { type Database, openDatabase } from '../store/database.ts';

/**
 * Opens the database of the installation for a command.
 *
 * @throws ConfigError when the file of the embedded database is missing; otherwise the command would create an empty database and work on it
 */
export async function openExistingDatabase({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<Database> {
  const file = path.join(dataDir, 'lamina.db');
  if (databaseUrl === null && !fs.existsSync(file)) {
    throw new ConfigError(`There is no database: ${file} does not exist. Set DATA_DIR as for the server.`);
  }
  return openDatabase({ url: databaseUrl, file });
}
