/** Tests that links between the documents lead to existing files and headings. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../launcher/runtime.mjs';

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Returns the anchors of the headings of a Markdown text, as GitHub writes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('every link of README.md, CONTRIBUTING.md and docs/ leads to a file, and its anchor to a heading', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })];
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => ({ page, target }))
      .filter(({ target }) => !/^https?:/.test(target)),
  );
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ page, target }) => {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && !anchorsOf(textOf(file)).includes(anchor);
  });
  expect(broken).toEqual([]);
});
