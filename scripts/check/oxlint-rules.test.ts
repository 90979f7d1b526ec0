/** Tests the lint rule of this project that limits the length of functions. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { root, run, toolCommand } from '../launcher/runtime.mjs';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs oxlint with the rule alone. @returns its messages about a file with this content */
async function messagesAbout(content: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lamina-oxlint-rules-'));
  folders.push(folder);
  const config = {
    jsPlugins: [join(root, 'scripts/check/oxlint-rules.ts')],
    categories: { correctness: 'off' },
    rules: { 'lamina/max-own-lines': 'error' },
  };
  writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'a.tsx'), content);
  const { output } = await run([...toolCommand('oxlint'), '--format', 'json'], {
    cwd: folder,
    capture: true,
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: { message: string }[] };
  return diagnostics.map(({ message }) => message);
}

/** Returns `count` equal lines. */
const lines = (count: number, line = '  call();') => Array(count).fill(line).join('\n');

describe('lint rule lamina/max-own-lines (at most 60 lines of code in a function)', () => {
  it.each([
    ['60 lines', `function long() {\n${lines(58)}\n}`],
    [
      '60 lines, not counting blank lines and comments',
      `function long() {\n${lines(58)}\n${lines(30, '\n  // why')}\n}`,
    ],
    [
      '60 lines, not counting a nested function',
      `const long = () => {\n${lines(57)}\n  const nested = () => {\n${lines(50)}\n  };\n};`,
    ],
    [
      '60 lines, not counting its JSX',
      `function Long() {\n${lines(57)}\n  return <p>\n${lines(50, '    text')}\n  </p>;\n}`,
    ],
    [
      '61 lines, after a comment that disables the rule with a reason',
      `// oxlint-disable-next-line lamina/max-own-lines -- a list\nfunction long() {\n${lines(59)}\n}`,
    ],
  ])('accepts a function with %s', async (_, content) => {
    expect(await messagesAbout(content)).toEqual([]);
  });

  it('rejects a function with 61 lines', async () => {
    expect(await messagesAbout(`function long() {\n${lines(59)}\n}`)).toEqual([
      expect.stringContaining('61 lines of its own'),
    ]);
  });

  it('rejects a comment that disables the rule but gives no reason', async () => {
    const content = `// oxlint-disable-next-line lamina/max-own-lines\nfunction long() {\n${lines(59)}\n}`;
    expect(await messagesAbout(content)).toEqual(['Give the reason after " -- ".']);
  });
});
