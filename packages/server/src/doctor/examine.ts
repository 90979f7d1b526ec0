/** Runs all checks of the doctor; changes nothing. */
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

/** @param read returns the settings. @throws nothing: a check that fails becomes a finding */
export async function examine(read: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = read();
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
      findings.push(...[await check(config)].flat());
    } catch (error) {
      findings.push(
        wrong(check.name, `The check failed: ${reasonOf(error)}.`, 'Please report this bug of the doctor.'),
      );
    }
  }
  return findings;
}
