/** Looks at everything the program needs, and changes nothing of it. */
import { type Config, ConfigError } from '../config.ts';
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

/** @param read the settings. @throws nothing: what cannot be looked at is a finding, too */
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
        'Mend this value in the environment or in .env; .env.example explains each one.',
      ),
    ];
  }
  const findings: Finding[] = [ok('Settings', 'Every value can be read.')];
  for (const check of checks) {
    try {
      findings.push(...[await check(config)].flat());
    } catch (error) {
      findings.push(
        wrong(
          check.name,
          `This could not be looked at: ${reasonOf(error)}.`,
          'Please report it: this is a fault of the doctor.',
        ),
      );
    }
  }
  return findings;
}
