import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatNames } from '../open-slide.ts';
import { formatsPage, tableNames } from './formats-table.ts';
import { goodSlides } from './good-slides.ts';

const docs = new URL('../../../../docs/formats/', import.meta.url);

describe('the table of formats', () => {
  it('is as npm run formats writes it', () => {
    expect(readFileSync(new URL('README.md', docs), 'utf8')).toBe(formatsPage());
  });

  it('has every format that is asked, and every one that a real file was shown in', () => {
    const asked = formatNames.flatMap((name) =>
      name === 'plain-image' ? ['jpeg', 'png', 'jpeg2000'] : [name],
    );
    const shown = goodSlides.map(([, outcome]) => outcome).filter((outcome) => !/[A-Z]/.test(outcome));
    expect([...asked, ...shown].filter((name) => !tableNames.has(name))).toEqual([]);
  });

  it('leads to a page for each', () => {
    const pages = formatsPage().match(/(?<=\]\()[\w-]+\.md/g) ?? [];
    expect(pages.filter((page) => !existsSync(new URL(page, docs)))).toEqual([]);
  });
});
