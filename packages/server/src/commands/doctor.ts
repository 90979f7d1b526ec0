/** `npm run doctor`: checks the installation and prints findings with advice; exit code 1 when something is wrong. */
import '../platform/require-node.ts';
import { examine } from '../doctor/examine.ts';
import { type Finding, withoutPasswords } from '../doctor/finding.ts';
import { configOfProcess } from '../platform/config.ts';
import { programVersion } from '../platform/program-version.ts';

const marks = { ok: '  ok     ', note: '  note   ', wrong: '  WRONG  ' } as const;
const indent = ' '.repeat(33);

function linesOf({ subject, state, says, advice }: Finding): string[] {
  const line = `${marks[state]}${subject.padEnd(22)}  ${says}`;
  return advice === null ? [line] : [line, `${indent}→ ${advice}`];
}

process.umask(0o077); // like the server
const findings = await examine(configOfProcess);
const wrongs = findings.filter(({ state }) => state === 'wrong').length;
const notes = findings.filter(({ state }) => state === 'note').length;
const summary =
  wrongs === 0
    ? `Nothing is wrong.${notes > 0 ? ` ${notes} notes.` : ''}`
    : `${wrongs} wrong, ${notes} notes.`;
const report = [`Lamina ${programVersion}`, '', ...findings.flatMap(linesOf), '', summary].join('\n');
process.stdout.write(`${withoutPasswords(report)}\n`, () => process.exit(wrongs === 0 ? 0 : 1));
