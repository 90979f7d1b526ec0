/** Runs all checks of `npm run doctor`. They change nothing in the installation. */
import { type Config, ConfigError } from '../platform/config.ts';
import { checkAddresses, checkPorts, checkProvider, checkSecrets } from './check-addresses.ts';
import { checkDatabase } from './check-database.ts';
import { checkDataFolder, checkSlidesFolder } from './check-folders.ts';
import { checkLibraries, checkNode, checkOpenFiles, checkSize } from './check-machine.ts';
import { checkMail } from './check-mail.ts';
import { checkObjectStorage } from './check-object-storage.ts';
import { type Finding, ok, reasonOf, wrong } from './finding.ts';

type Check = (config: Config) => Promise<Finding | readonly Finding[]> | Finding | readonly Finding[];

const checks: readonly Check[] = [
  checkNode,
  checkSize,
  checkOpenFiles,
  checkLibraries,
  checkDataFolder,
  checkDatabase,
  checkSlidesFolder,
  checkObjectStorage,
  checkPorts,
  checkAddresses,
  checkSecrets,
  checkProvider,
  checkMail,
];

/** Returns all findings. A check that throws adds a finding with the state `wrong`. @param readSettings may throw ConfigError */
export async function examine(readSettings: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = readSettings();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      checkNode(),
      wrong(
        'Settings',
        error.message,
        'Correct this value in the environment or in .env; .env.example explains each one.',
      ),
    ];
  }
  const findings: Finding[] = [ok('Settings', 'All values are valid.')];
  for (const check of checks) {
    try {
      findings.push(...[await check(config)].flat()); // one finding or several
    } catch (error) {
      findings.push(
        wrong(check.name, `The check failed: ${reasonOf(error)}.`, 'Please report this bug of the doctor.'),
      );
    }
  }
  return findings;
}
