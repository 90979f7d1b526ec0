/** `npm run doctor`: says what is right, what is wrong, and what to do. Ends with 1 when something has to be done. */
import '../require-node.ts';
import { configOfProcess } from '../config.ts';
import { programVersion } from '../program-version.ts';
import { examine } from './examine.ts';
import { type Finding, withoutPasswords } from './finding.ts';

const marks = { ok: '  ok     ', note: '  note   ', wrong: '  WRONG  ' } as const;
const indent = ' '.repeat(33);

function linesOf({ subject, state, says, advice }: Finding): string[] {
  const told = `${marks[state]}${subject.padEnd(22)}  ${says}`;
  return advice === null ? [told] : [told, `${indent}→ ${advice}`];
}

process.umask(0o077); // as the server itself
const findings = await examine(configOfProcess);
const wrongs = findings.filter(({ state }) => state === 'wrong').length;
const notes = findings.filter(({ state }) => state === 'note').length;
const sum =
  wrongs === 0
    ? `Nothing is wrong.${notes > 0 ? ` ${notes} to know about.` : ''}`
    : `${wrongs} wrong, ${notes} to know about.`;
const report = [`Lamina ${programVersion}`, '', ...findings.flatMap(linesOf), '', sum].join('\n');
process.stdout.write(`${withoutPasswords(report)}\n`, () => process.exit(wrongs === 0 ? 0 : 1));
