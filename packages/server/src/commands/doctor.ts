/** `npm run doctor`: checks the installation and prints findings with advice. The exit code is 1 if something is wrong. */
import '../platform/require-node.ts';
import { examine } from '../doctor/examine.ts';
import { type Finding, withoutPasswords } from '../doctor/finding.ts';
import { configOfProcess } from '../platform/config.ts';
import { programVersion } from '../platform/program-version.ts';

const marks = { ok: '  ok     ', note: '  note   ', wrong: '  WRONG  ' } as const;
/** Aligns the advice with the messages: the width of a mark (9), the padded subject (22) and two spaces. */
const adviceIndent = ' '.repeat(33);

function reportLinesOf({ subject, state, message, advice }: Finding): string[] {
  const line = `${marks[state]}${subject.padEnd(22)}  ${message}`;
  return advice === null ? [line] : [line, `${adviceIndent}→ ${advice}`];
}

process.umask(0o077); // only the owner may read new files, as in the server
const findings = await examine(configOfProcess);
const wrongCount = findings.filter(({ state }) => state === 'wrong').length;
const noteCount = findings.filter(({ state }) => state === 'note').length;
const noteSummary = noteCount > 0 ? ` ${noteCount} notes.` : '';
const summary =
  wrongCount === 0 ? `Nothing is wrong.${noteSummary}` : `${wrongCount} wrong, ${noteCount} notes.`;
const report = [`Lamina ${programVersion}`, '', ...findings.flatMap(reportLinesOf), '', summary].join('\n');
// Exits explicitly, because a check that timed out may still be pending and would keep the process running.
process.stdout.write(`${withoutPasswords(report)}\n`, () => process.exit(wrongCount === 0 ? 0 : 1));
